"""The provider twin: a server on loopback that speaks the providers' dialects, for tests of an agent.

It refuses what they refuse in their own words, counts tokens, keeps a prompt cache, checks signatures, edits and compacts as
their services do, and breaks where a script wants it. No network, no key, no cost. How it is used: `docs/guides/testing-your-agent.md`.
"""

from foldline.testing.twin.desk import Settings as Settings
from foldline.testing.twin.desk import endless as endless
from foldline.testing.twin.overflow import WORDINGS as WORDINGS
from foldline.testing.twin.script import Answer as Answer
from foldline.testing.twin.script import Call as Call
from foldline.testing.twin.script import Delivery as Delivery
from foldline.testing.twin.script import Fault as Fault
from foldline.testing.twin.script import Received as Received
from foldline.testing.twin.script import Step as Step
from foldline.testing.twin.server import Twin as Twin
