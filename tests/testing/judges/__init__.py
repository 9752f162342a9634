"""Tests of the judges, one file each, and the bodies that they share: what breaks a rule, and what must please it."""
