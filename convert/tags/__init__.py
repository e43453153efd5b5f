"""The tags of a dataset card: which are earned, which are untrue, and putting them right."""
