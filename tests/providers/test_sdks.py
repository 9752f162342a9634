"""An SDK is found by a client's class or by name, imported when it is asked for, and never asked for a key it can do without."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from foldline.core.errors import InvalidOption, ProviderFailed
from foldline.providers import sdks
from foldline.providers.sdks import SDKS, imported, is_async, made, raised_by, sdk_of, secrets_of
from tests.providers.stub import KEY
from tests.providers.test_completer import client_for

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the SDKs' own
CLOSED = "http://localhost:9"
"""Where no server listens."""
NAMES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.parametrize("format", ["anthropic", "openai-chat", "gemini"])
def test_a_client_is_known_by_its_class(format: str) -> None:
    """Sync and async; OpenAI's SDK at another server prefers chat, which all such servers have."""
    for asynchronous in (False, True):
        client = client_for(format, CLOSED, is_async=asynchronous)
        assert sdk_of(client).name == format.removesuffix("-chat")
        assert sdk_of(client).formats[0] == format
        assert is_async(client) == asynchronous
        assert format == "gemini" or secrets_of(client) == (KEY,)
    assert secrets_of(client_for("gemini", CLOSED)) == (KEY,)


def test_openai_itself_is_asked_through_responses() -> None:
    """Its own models hold their reasoning only there."""
    assert sdk_of(client_for("openai-responses", "https://api.openai.com/v1")).formats == (
        "openai-responses",
        "openai-chat",
    )


@pytest.mark.usefixtures("no_keys")
@pytest.mark.parametrize("name", list(SDKS))
def test_by_name_a_key_that_is_not_there_is_named(name: str) -> None:
    """Where to put it, and that the SDK reads it; never asked for on a command line."""
    pytest.importorskip(SDKS[name].module, reason=f"the SDK {SDKS[name].module} is not installed")
    with pytest.raises(ProviderFailed, match=rf"could not be asked: there is no key; set {SDKS[name].key}"):
        made(name, base_url=None)


@pytest.mark.usefixtures("no_keys")
@pytest.mark.parametrize("name", list(SDKS))
def test_a_server_of_ones_own_needs_no_key(name: str) -> None:
    """Ollama, llama.cpp and vLLM ask for none; their clients still want one."""
    pytest.importorskip(SDKS[name].module, reason=f"the SDK {SDKS[name].module} is not installed")
    sdk, client = made(name, base_url=CLOSED)
    assert sdk.name == name
    assert sdk.formats[0] == ("openai-chat" if name == "openai" else SDKS[name].formats[0])
    assert secrets_of(client) == ()


def test_a_name_that_is_none_and_an_sdk_that_is_not_there_say_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The extra that installs it."""
    with pytest.raises(InvalidOption, match="there are: anthropic, openai, openai-chat, gemini"):
        made("mistral", base_url=None)
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(
        InvalidOption, match=r"pip install '\.\[anthropic\]' in a clone, 'foldline\[anthropic\]'"
    ):
        imported(SDKS["anthropic"])


def test_what_an_sdk_raises_is_found_with_one_http_library_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """`anthropic` 2 and `openai` 3 stand on httpx2, older ones on httpx."""
    anthropic = pytest.importorskip("anthropic", reason="the SDK anthropic is not installed")
    monkeypatch.setitem(sys.modules, "httpx", None)
    assert anthropic.AnthropicError in raised_by(SDKS["anthropic"])
    assert sdks.RETRIES == 0


def test_importing_the_completers_imports_no_sdk() -> None:
    """Seconds each (docs/decisions/0010)."""
    code = (
        "import sys, foldline; foldline.completer;"
        "print([m for m in ('anthropic', 'openai', 'google.genai', 'httpx', 'httpx2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
