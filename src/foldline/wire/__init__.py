"""Wire formats: bytes of one provider's request to messages and back, and each provider's rules as values.

One codec a format. Knows core alone; session files of other tools are read in `foldline.transcripts`.
"""
