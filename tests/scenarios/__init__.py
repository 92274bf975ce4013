"""The scenarios of the specification, each from a task to its report through every pattern."""
