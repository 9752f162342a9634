"""Stores: where the logs of sessions are kept.

`foldline.stores.memory` keeps them in memory, for sessions that need not outlive the process and as the second
implementation that proves the port (`foldline.core.ports.Store`). Knows lines (`foldline.log.lines`), not what stands
in them.
"""
