"""What opens a client's sessions: by name below a home, without one in memory, without its secrets."""

from __future__ import annotations

from pathlib import Path

from foldline.clients.opening import opening, planning
from foldline.home import disk_store
from foldline.session.setup import SessionOptions
from foldline.settings import in_window, plan_for
from foldline.stores.limits import Limit, Limits
from tests.clients.lists import call, user

SECRET = "sk-ant-api03-" + "a1B2" * 22 + "-abcdefAA"


def test_a_name_is_a_session_on_disk_and_none_is_one_in_memory(tmp_path: Path) -> None:
    """JRN: durable where it has a name; its secrets are taken out before anything is written."""
    opened = opening(SessionOptions(), home=tmp_path)
    asked = call([user("a")])
    with opened("s", asked) as session:
        session.user(f"my key is {SECRET}")
        assert (session.format, session.model) == ("openai-chat", "gpt-4o")
    with opened("", asked) as session:
        session.user("b")
    assert disk_store(tmp_path).names() == ("s",)
    assert SECRET not in (tmp_path / "sessions/s/log.jsonl").read_text()


def test_a_model_that_is_named_goes_before_the_requests_own(tmp_path: Path) -> None:
    """Whose window is planned with; and a window that is named goes before both."""
    with opening(SessionOptions(model="gpt-4.1", window=9_000), home=tmp_path)(
        "", call([user("a")])
    ) as session:
        assert session.model == "gpt-4.1"
        session.user("a")
        assert session.context_use()["tokens_window"] == 9_000
        session.use("gpt-4o")
        assert session.context_use()["tokens_window"] == 9_000


def test_what_a_provider_named_is_known_before_a_session_is(tmp_path: Path) -> None:
    """OVF: a limit that was learned once says from where on a reduction may be due, and what fits whole; at its own endpoint, and not
    where the window was stated anew since."""
    limit = Limit(model="gpt-4o", endpoint="https://x.example", tokens=32_000, instead_of=128_000)
    Limits(tmp_path).keep(limit)
    here = planning(plan_for, home=tmp_path, endpoint="https://x.example")
    assert (here("gpt-4o").window, here("gpt-4o").source) == (32_000, "refusal")
    assert (here("gpt-4.1"), here(None)) == (plan_for("gpt-4.1"), plan_for(None))
    assert planning(plan_for, home=tmp_path, endpoint="https://y.example")("gpt-4o") == plan_for("gpt-4o")
    stated = planning(
        lambda model: in_window(plan_for(model), 64_000), home=tmp_path, endpoint="https://x.example"
    )
    assert stated("gpt-4o").window == 64_000
    (tmp_path / "limits").write_text("{")
    assert here("gpt-4o") == plan_for("gpt-4o"), "its session says what is wrong with the file"
