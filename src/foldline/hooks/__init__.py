"""Hooks: what a person or a host wants done before and after a compaction, as commands and as Python callables.

Owns how they are run, what they are told and what their answers mean. Knows no session: what calls them hands in plain values
(`foldline.hooks.occasion.Occasion`).
"""

from foldline.hooks.command import Command
from foldline.hooks.hooks import Hook, Hooks, HookVerdict
from foldline.hooks.occasion import Occasion

__all__ = ["Command", "Hook", "HookVerdict", "Hooks", "Occasion"]
