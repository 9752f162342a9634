"""The passes: each plans one kind of reduction and changes nothing.

One file, one pass: a frozen value whose fields are its thresholds. Knows core alone; which pass runs when, and how
far, is `foldline.engine`'s to say. In the order of what they cost:

    budget_reduction   one oversized result is cut to head and tail
    microcompact       old results give way to a placeholder
    snip               old turns, rounds or messages go, a notice stays
    collapse           talk without consequences becomes one template summary
    fold_oldest        everything before the newest whole units becomes one message; always reaches the target
"""
