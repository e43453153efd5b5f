"""What the real frameworks say of a repo, and the records of it."""
