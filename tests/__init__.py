"""Tests; a package so that `tests.support` can be imported."""
