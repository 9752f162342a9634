"""Tests of the laws themselves: each is broken by something and left whole by its neighbour, and each test can fail."""
