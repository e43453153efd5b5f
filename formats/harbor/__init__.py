"""The Harbor format: reader and writer."""
