"""The ledger: what a history says that must not be forgotten, found by rules, kept by the host.

`facts` finds, `book` keeps account, `render` writes, `retention` measures what survived. Knows core alone: no wire
format, no tokenizer but the one handed in, no model. What a pass does with it is `foldline.passes.fold_oldest`'s.
"""
