"""The formats this installation knows: one line each.

A name maps to the package that holds its reader and writer. The package is imported when the
format is used, so a broken or heavy one costs nothing to the others.
"""

FORMATS: dict[str, str] = {
    "harbor": "rlconvert.formats.harbor",
    "verifiers": "rlconvert.formats.verifiers",
    "openenv": "rlconvert.formats.openenv",
    "nemo": "rlconvert.formats.nemo",
}
