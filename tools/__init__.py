"""What can be called: one tool or family a file, the catalogue that holds them, policy, journal and artefacts."""
