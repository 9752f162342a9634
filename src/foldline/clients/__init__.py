"""Official clients that keep a session: `foldline.wrap`.

`wrap` takes a client and gives one that is used the same way. `following` compares the list that comes with each request with
what is known of it; `calls` reads requests and writes them again; a seat for each SDK (`anthropic_seat`, `openai_seat`,
`gemini_seat`) is where requests and answers pass; `answers` reads the answers on the side.
"""
