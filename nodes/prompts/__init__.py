"""Every prompt, a pure function that returns messages, in English and Chinese."""
