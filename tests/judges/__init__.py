"""Everything that judges requests from outside: the rules of `foldline.testing.judges` and the types of the official SDKs.

`panel` puts the two together. Nothing here imports the product beside its judges, which share no code with the rest of it.
"""
