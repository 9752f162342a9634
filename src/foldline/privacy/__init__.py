"""What a person may ask of what foldline keeps: which secrets are in it, and to forget.

Owns the walks over sessions and files that scanning and forgetting take, and the key of fingerprints. What a secret
looks like is `foldline.log.secrets`'s, how a body is replaced a store's. `docs/guides/privacy.md` says what is promised.
"""
