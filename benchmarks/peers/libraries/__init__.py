"""One module a library: its own message classes, its own entry point, a model that answers with a fixed summary.

Each module satisfies `benchmarks.peers.peer.Peer` and imports its library inside the class that drives it. Nothing here
knows how results are judged, nor this project's code, `foldline_here` apart.
"""
