"""The Hub: snapshots, commits, pull requests. Its client is used here alone."""
