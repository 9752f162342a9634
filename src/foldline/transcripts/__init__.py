"""Readers and writers of other tools' session files.

Each file format is one module; `foldline.transcripts.detect` recognises formats by content. Reads into
`foldline.core.message` values, through the codecs of `foldline.wire` where a format embeds a wire format.
"""
