"""The NeMo Gym format: reader and writer."""
