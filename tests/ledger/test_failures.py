"""Which line of an output says what failed."""

from __future__ import annotations

import pytest

from foldline.ledger.failures import failure_in, unframed, why_in

GO = """--- FAIL: TestBurst (0.01s)
    limiter_test.go:33: got 5, want 10
FAIL
FAIL\texample.com/limit\t0.35s
exit status 1
FAIL"""
GO_PANIC = (
    "--- FAIL: TestA (0.00s)\npanic: index out of range [3]\n\ngoroutine 7:\nFAIL\texample.com/x\t0.01s"
)
GO_BUILD = "# example.com/limit\n./limiter.go:12:5: undefined: foo\nnote: module requires Go 1.22"
PYTEST = """=== FAILURES ===
E       assert 1 == 2
t.py:2: AssertionError
=== short test summary info ===
FAILED t.py::test_a - assert 1 == 2
!!!!!!!!! stopping after 1 failures !!!!!!!!!
========================= 1 failed, 3 passed in 0.03s ========================="""
UNITTEST = "AssertionError: 1 != 2\n\n---\nRan 3 tests in 0.001s\n\nFAILED (failures=1)"
JEST = "FAIL src/a.test.js\n  ● adds\n\n    Expected: 3\n\nTests:       1 failed, 2 passed, 3 total"
CARGO = """thread 'a::b' panicked at src/lib.rs:10:5:
test result: FAILED. 11 passed; 1 failed; 0 ignored

error: test failed, to rerun pass `--lib`"""
RUSTC = "error[E0425]: cannot find value `x`\n\nerror: could not compile `a` due to 1 previous error\nFor more information about this error, try `rustc --explain E0425`."
MAVEN = """[ERROR]   FooTest.bar:12 expected:<1> but was:<2>
[INFO] BUILD FAILURE
[ERROR] Failed to execute goal org:maven:test on project x: There are test failures.
[ERROR] -> [Help 1]
[ERROR] Re-run Maven using the -X switch to enable full debug logging."""
MAKE = "main.c:5:3: error: 'x' undeclared\nmake: *** [Makefile:3: main.o] Error 1"
ESLINT = "/w/a.js\n  3:5  error  'x' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)\n"
RSPEC = "  1) Foo bar\n     Failure/Error: expect(1).to eq(2)\n\nFailed examples:\n\nrspec ./foo_spec.rb:3 # Foo bar"
TSC = "src/a.ts(3,5): error TS2322: Type 'string' is not assignable.\nFound 1 error in src/a.ts:3"
DOCKER = """#12 3.911 src/a.ts(14,7): error TS2339: no vat
#12 ERROR: process "/bin/sh -c npm run build" did not complete successfully: exit code: 2
ERROR: failed to solve: process "/bin/sh -c npm run build" did not complete successfully: exit code: 2"""
YARN = "src/a.ts(3,5): error TS2322: no\nerror Command failed with exit code 2."


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (GO, "--- FAIL: TestBurst (0.01s): limiter_test.go:33: got 5, want 10"),
        (GO_PANIC, "panic: index out of range [3]"),
        (GO_BUILD, "./limiter.go:12:5: undefined: foo"),
        (PYTEST, "1 failed, 3 passed in 0.03s: FAILED t.py::test_a - assert 1 == 2"),
        (UNITTEST, "FAILED (failures=1): AssertionError: 1 != 2"),
        (JEST, "Tests: 1 failed, 2 passed, 3 total: ● adds"),
        (
            CARGO,
            "test result: FAILED. 11 passed; 1 failed; 0 ignored: thread 'a::b' panicked at src/lib.rs:10:5:",
        ),
        (RUSTC, "error[E0425]: cannot find value `x`"),
        (MAVEN, "[ERROR] FooTest.bar:12 expected:<1> but was:<2>"),
        (MAKE, "main.c:5:3: error: 'x' undeclared"),
        (ESLINT, "✖ 1 problem (1 error, 0 warnings): 3:5 error 'x' is not defined no-undef"),
        (RSPEC, "Failure/Error: expect(1).to eq(2)"),
        (TSC, "src/a.ts(3,5): error TS2322: Type 'string' is not assignable."),
        (DOCKER, "#12 3.911 src/a.ts(14,7): error TS2339: no vat"),
        (YARN, "src/a.ts(3,5): error TS2322: no"),
        ("make: *** [all] Error 2", "make: *** [all] Error 2"),
        ("3 failed", "3 failed"),
        ("Failed examples:", "Failed examples:"),
        ("12 passed", ""),
        ("", ""),
    ],
)
def test_what_failed_is_told_not_what_only_counts_follows_or_helps(text: str, why: str) -> None:
    """CMP-8: `[ERROR] Re-run Maven …`, `Failed examples:` or `make: *** Error 1` told nobody what had failed."""
    assert why_in(text) == why


def test_a_place_in_a_file_is_a_failure_only_where_something_failed() -> None:
    """`grep -n` names places, too."""
    assert failure_in("a.py:3: import os") == failure_in("  ● Overview") == ""
    assert why_in("a.py:3: import os") == "a.py:3: import os"
    assert failure_in("ok\n12:01 INFO: retry failed to start") == ""


def test_a_long_failure_behind_its_count_stays_within_a_line() -> None:
    """CMP-8: what failed has the room that the count leaves."""
    told = why_in(f"FAILED t.py::test_{'a' * 300} - assert 1 == 2\n1 failed in 0.1s")
    assert told.startswith("1 failed in 0.1s: FAILED t.py::test_a")
    assert len(told) <= 160


@pytest.mark.parametrize(
    ("line", "bare"),
    [
        ("==== 1 failed ====", "1 failed"),
        ("!!! Interrupted !!!", "Interrupted"),
        ("==========", "=========="),
        ("-- a --", "-- a --"),
        ("--- FAIL: TestA", "--- FAIL: TestA"),
        ("", ""),
    ],
)
def test_a_line_is_told_without_what_rules_it_off(line: str, bare: str) -> None:
    assert unframed(line) == bare
