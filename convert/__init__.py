"""Convert RL task sets between frameworks, and say exactly what was kept."""

__version__ = "0.1.0"
