"""From a folder to a dataset of the Hub: what goes, what is secret, the plan, and doing it."""
