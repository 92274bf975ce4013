"""Every test here talks to a real model server, and works in folders of its own."""

from tests.support.endpoint import endpoint, root  # noqa: F401
