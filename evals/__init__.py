"""Comparing patterns: tasks, runner, scorers and report."""
