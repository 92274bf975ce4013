"""What happens: shared steps without wiring. Only `ask` talks to a model, only `call` runs a tool."""
