"""Running tasks: the orders, the sandboxes that carry them out, and the verdicts."""
