"""The task folder: one task per directory, a carrier that several formats share."""
