"""What a caller's own list would have come to, had nothing been taken out of it.

The session weighs what its view shows; of what it shows no more, the caller's message is counted once and remembered with its link.
Both by one counter, so that their share is right where the counter itself is off.
"""

from __future__ import annotations

from foldline.clients.chains import Chain, ReadList


def tokens_came(chain: Chain, read: ReadList, *, tokens_sent: int) -> int:
    """Tokens of the caller's list, in the scale in which what is sent for it comes to `tokens_sent`. The chain begins with that list,
    and its session has prepared."""
    kept = chain.kept
    assert kept is not None, "who prepared has a session"
    weighed, counter = kept.weighed(), kept.counter
    links = chain.links[: len(read)]
    for place, link in enumerate(links):
        if link.ordinal in weighed.own:
            link.tokens, link.counter = weighed.own[link.ordinal], counter
        elif link.counter != counter:
            link.tokens, link.counter = kept.weight(read.message(place)), counter
    came = weighed.fixed + sum(link.tokens for link in links)
    return tokens_sent * came // max(1, weighed.fixed + weighed.view)
