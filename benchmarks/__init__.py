"""Speed, side by side with other ways; measured by hand, never asserted."""
