"""In what order: one pattern a file."""
