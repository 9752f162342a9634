"""A line says of a whole run that it went well in known forms alone, and nothing that is shown beside it may speak against it."""

from __future__ import annotations

import pytest

from foldline.ledger.verdicts import LINE_CHARS_MAX, against_in, all_went_well, is_trailer, verdict_in

WELL = [
    "Script completed successfully, no errors. Result: True",
    "Script completed successfully, no errors.",
    "The deployment finished successfully.",
    "OK (12 tests)",
    "Found 0 errors. Watching for file changes.",
    "Finished dev [unoptimized] target(s) in 3s",
    "Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.03s",
    "Compiled successfully.",
    "Tests: 5, Failures: 0",
    "12 passed",
    "12 passed in 3.05s",
    "====== 12 passed, 3 warnings in 1.20s ======",
    "======================== 12 passed, 1 skipped, 2 xfailed in 65.20s (0:01:05) =========================",
    "ok",
    "OK",
    "All checks passed!",
    "test result: ok. 8 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
    "test result: ok. 8 passed; 0 failed",
    "Tests: 4 passed, 4 total",
    "Tests:       4 passed, 4 total",
    "Tests: 1 skipped, 3 passed, 4 total",
    "Test Suites: 1 passed, 1 total",
    "ok pkg 0.1s",
    "ok  \tx/b\t0.1s",
    "ok x/b (cached)",
    "     Tests  4 passed (4)",
    " Tests  3 passed | 1 skipped (4)",
    "  4 passing (5ms)",
    "OK (4 tests, 9 assertions)",
    "10 examples, 0 failures",
    "5 tests, 0 failures",
    "3 runs, 5 assertions, 0 failures, 0 errors, 0 skips",
    "[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0",
    "[INFO] BUILD SUCCESS",
    "BUILD SUCCESSFUL in 3s",
    "[build] Complete!",
    "[build] 213 page(s) built in 3.02s",
    f"v2.4.1: digest: sha256:{'9f' * 32} size: 2207",
    "Passed!  - Failed:     0, Passed:     4, Skipped:     0, Total:     4, Duration: 3 ms - x.dll (net8.0)",
    "Executed 2 out of 2 tests: 2 tests pass.",
    "Executed 4 tests, with 0 failures (0 unexpected) in 0.01 (0.01) seconds",
    "100% tests passed, 0 tests failed out of 4",
    "Success: no issues found in 3 source files",
    "0 errors, 0 warnings, 0 informations",
    "Found no errors",
    "全部测试通过",
    "5 passed, 0 failed",
    "# fail 0",
    "ℹ fail 0",
    "Result: PASS",
    "h1 : ok=3 changed=1 unreachable=0 failed=0 skipped=0",
    "Checked 22 files. No fixes applied.",
    "Checked 22 files in 14ms. No fixes applied.",
    "ok | 4 passed | 0 failed (12ms)",
    "00:03 +4: All tests passed!",
    "** TEST SUCCEEDED **",
    '{"status":"ok"}',
    "Successfully installed a-1 b-2.0",
    "    0 Error(s)",
    "Done in 3.2s.",
    "found 0 vulnerabilities",
    "✓ built in 1.2s",
    "All 12 tests passed",
]
OTHER = [
    "Step 1 completed successfully",
    "Script completed successfully, no errors. Result: False",
    "Backup completed successfully, upload pending",
    "[INFO] Finished at: 2026-01-01",
    "h1 : ok=3 changed=1 unreachable=0 failed=1 skipped=0",
    '{"status":"down","ok":false}',
    '{"passed":false,"tests":12}',
    "12 checks completed, 3 red",
    "75% passed",
    "Score: 60 (pass mark 80) done",
    "Deployed to canary; prod rollout halted",
    "0 errors and 1 warning potentially fixable with the `--fix` option.",
    "✓ renders (2 ms)",
    "tests/test_a.py::test_one PASSED [ 25%]",
    "[ 33%] Built target util",
    "test a ... ok",
    "3 of 4 passed",
    "Passed: 3/4",
    "4 examples, 1 failure",
    "Tests: 4, Assertions: 9, Failures: 1.",
    "3 passed (4s)",
    "0 passed",
    "4 tests collected",
    "Tests: 3 passed, 4 total",
    "Tests  3 passed (4)",
    "Executed 3 of 4 SUCCESS (0.1 secs / 0.05 secs)",
    "0 tests, 0 failures",
    "2 failed, 3 passed",
    "4/5 passed",
    "done",
    "finished",
    "0 errors, 3 warnings",
    "lint ok",
    "Done",
    "12 checks",
    "",
    "ok" * LINE_CHARS_MAX,
    "{}",
]


@pytest.mark.parametrize("line", WELL)
def test_a_line_says_that_all_of_a_run_went_well(line: str) -> None:
    """CMP-8: how test runners, checkers and builds end where nothing failed."""
    assert all_went_well(line)
    assert not against_in([line])


@pytest.mark.parametrize("line", OTHER)
def test_a_word_of_success_in_another_line_says_nothing_of_the_run(line: str) -> None:
    """CMP-8: `Finished at`, `passed` beside `false`, one case of many: each settled a failure."""
    assert not all_went_well(line)


@pytest.mark.parametrize(
    "line",
    [
        "FAIL",
        "Failures: 1",
        "retry: false",
        "75% passed",
        "pass rate: 75%",
        "3/4 passed",
        "Passed: 3/4",
        "12 checks, 3 red",
        "prod rollout halted",
        "db: DOWN",
        "black....Failed",
        "# fail 1",
        "1 项不合格",
        "failed=1",
        "2 errors",
        "not ok 3 - saves",
        "rc=1",
        "Exit: 2",
        "its progress deadline exceeded",
    ],
)
def test_a_line_speaks_against_all_having_gone_well(line: str) -> None:
    """CMP-8: wherever it stands in what is shown."""
    assert against_in(["x", line, "12 passed"]) == line


@pytest.mark.parametrize(
    "line",
    [
        "tests/test_a.py::test_fails PASSED [ 25%]",
        "✓ rejects a failed login (2 ms)",
        "test fails_early ... ok",
        "ok 3 - fails early",
        "PASS src/fail.test.ts",
        "5 passed, 0 failed",
        "Failures: 0, Errors: 0",
        "no errors",
        "[3/4] Building",
        "x" * LINE_CHARS_MAX + " failed",
    ],
)
def test_what_a_case_is_called_and_what_did_not_happen_speak_against_nothing(line: str) -> None:
    """CMP-8: clean runs of tests that are about failures would never settle one."""
    assert not against_in([line])


def test_a_verdict_stands_before_its_trailers() -> None:
    """CMP-8: of a failed build `Total time` was told."""
    assert (
        verdict_in(["[INFO] BUILD FAILURE", "[INFO] ------", "[INFO] Total time: 3 s"])
        == "[INFO] BUILD FAILURE"
    )
    assert verdict_in(["# fail 1", "# cancelled 0", "# duration_ms 60"]) == "# fail 1"
    assert verdict_in(["Ran all test suites."]) == "Ran all test suites."
    assert verdict_in([]) == ""
    assert not is_trailer("# cancelled 2")
