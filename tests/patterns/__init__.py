"""What every pattern does alike, and what each does in its own way."""
