"""The four laws of the design: what they are tried on, how, and what counts as the same."""
