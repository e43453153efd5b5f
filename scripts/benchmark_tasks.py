"""A made-up set of Harbor tasks, as large as asked for: six small files a task, all different."""

from __future__ import annotations

from pathlib import Path

FILES = 6
"""Files of a task; each is smaller than a page."""

_TOML = """\
schema_version = "1.3"

[task]
name = "bench/{name}"
description = "Sum up column {number} of a table"
keywords = ["tables", "arithmetic"]

[metadata]
difficulty = "{level}"
category = "data"
seed = {number}

[agent]
timeout_sec = 600.0

[verifier]
timeout_sec = 120.0

[environment]
cpus = 1
memory_mb = 2048
storage_mb = 4096
"""

_INSTRUCTION = """\
# Column {number}

The file `/app/table.csv` has a header line and {rows} rows. Add up the values of its column
number {number} and write the sum, as a decimal number without a unit, to `/app/sum.txt`.

Empty cells count as nothing. A cell that is not a number is a mistake of whoever made the table:
leave it out, and write how many of them there are on a second line.
"""

_DOCKERFILE = """\
FROM python:3.12-slim
WORKDIR /app
RUN python -c "import csv, random; random.seed({number}); \\
    csv.writer(open('/app/table.csv', 'w')).writerows( \\
        [random.randint(0, 999) for _ in range(9)] for _ in range({rows}))"
"""

_SOLUTION = """\
#!/bin/bash
set -e
cut -d, -f{column} /app/table.csv | tail -n +2 | paste -sd+ | bc > /app/sum.txt
echo 0 >> /app/sum.txt
"""

_TEST = """\
#!/bin/bash
mkdir -p /logs/verifier
if python /tests/check.py; then
    echo 1 > /logs/verifier/reward.txt
else
    echo 0 > /logs/verifier/reward.txt
fi
"""

_CHECK = '''\
"""Task {number}: the sum must be the one that the table gives."""

import csv
import sys
from pathlib import Path

with open("/app/table.csv", newline="") as file:
    rows = list(csv.reader(file))[1:]
cells = [row[{column} - 1] for row in rows]
numbers = [int(cell) for cell in cells if cell.isdigit()]
wanted = [str(sum(numbers)), str(sum(bool(cell) and not cell.isdigit() for cell in cells))]
sys.exit(Path("/app/sum.txt").read_text().split() != wanted)
'''


def make_tasks(root: Path, count: int) -> None:
    """Write `count` tasks as folders of `root`; the same ones every time."""
    root.mkdir(parents=True)
    for number in range(count):
        name = f"task-{number:06}"
        home = root / name
        for folder in ("environment", "solution", "tests"):
            (home / folder).mkdir(parents=True)
        facts = {
            "name": name,
            "number": number,
            "rows": 20 + number % 100,
            "column": 1 + number % 9,
            "level": ("easy", "medium", "hard")[number % 3],
        }
        for path, text in (
            ("task.toml", _TOML),
            ("instruction.md", _INSTRUCTION),
            ("environment/Dockerfile", _DOCKERFILE),
            ("solution/solve.sh", _SOLUTION),
            ("tests/test.sh", _TEST),
            ("tests/check.py", _CHECK),
        ):
            (home / path).write_text(text.format(**facts), encoding="utf-8")
        (home / "tests" / "test.sh").chmod(0o755)
