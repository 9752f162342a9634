"""What is sent of a conversation: the caller's own messages, and what its session put in the place of others.

Owns nothing; a chain remembers what was written, so that it is written once. Counterpart: `foldline.clients.following`, which knows
what the chain's log has.
"""

from __future__ import annotations

from foldline.clients.chains import Chain, Link, ReadList
from foldline.session.request import Prepared


def shown(chain: Chain, read: ReadList, *, prepared: Prepared) -> list[bytes] | None:
    """The messages to send for a request that a session prepared, in bytes; `None` where it put nothing anywhere.
    An answer that its caller has together with others is the session's own."""
    kept = chain.kept
    assert kept is not None, "who prepared has a session"
    chain.links[len(read) - 1].shown = kept.session.seq
    if kept.is_whole():
        return None
    places = {link.ordinal: place for place, link in enumerate(chain.links[: len(read)]) if not link.merged}
    written, chain.encoded = read.call.written(kept.shown(prepared, places), known=chain.encoded)
    return written


def would_show(chain: Chain, read: ReadList, *, links: list[Link], count: int) -> list[bytes] | None:
    """The same of a list that is only counted, whose first messages, so many, are the chain's links; `None`: as it came."""
    kept, call = chain.kept, read.call
    if kept is None or kept.is_whole():
        return None
    places = {link.ordinal: place for place, link in enumerate(links[:count]) if not link.merged}
    unsaid = {link.ordinal for link in links[count:]}
    written, _ = call.written(kept.view(places, without=unsaid), known=chain.encoded)
    return [*written, *call.messages[call.leading + count :]]
