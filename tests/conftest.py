"""What every test shares: how many cases hypothesis makes.

`ci` is the default: bounded and derandomised, so that a run says the same thing twice. `HYPOTHESIS_PROFILE=dev`
draws new cases each time; `make nightly` draws many more.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# A slow shared core is no finding: hypothesis' own time limits stay off, the number of cases is the bound.
SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    stateful_step_count=25,
    suppress_health_check=SLOW_IS_FINE,
)
settings.register_profile(
    "dev", deadline=None, max_examples=100, stateful_step_count=40, suppress_health_check=SLOW_IS_FINE
)
settings.register_profile(
    "nightly", deadline=None, max_examples=2_000, stateful_step_count=80, suppress_health_check=SLOW_IS_FINE
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
