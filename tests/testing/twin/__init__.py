"""Tests of the provider twin by plain HTTP; that the official SDKs take it for the real thing is in `tests/judges`."""
