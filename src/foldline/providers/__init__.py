"""Completers over the official SDKs: `anthropic`, `openai` and `google-genai`, each imported when one is asked for.

`completer` makes one, `sdks` knows which SDK a client belongs to, `bodies` writes a request, `replies` reads the stream,
`faults` turns an SDK's errors into one of ours. Knows nothing of sessions and policies.
"""
