"""Real parts for tests: a model server, a mail server, and a model in the same process."""
