"""Tools by what they do; the table stands in `foldline.ledger.tools`."""

from foldline.ledger.tools import CASCADE_KINDS, READS, ToolKind, kind_of, rank

__all__ = ["CASCADE_KINDS", "READS", "ToolKind", "kind_of", "rank"]
