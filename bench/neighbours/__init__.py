"""What one firm's load costs a neighbour: both on one server, which the first keeps busy in six ways.

`python -m bench.neighbours` measures this part alone.
"""

import sys

from bench.contenders.running import ROOT

# Hostile workbooks and PostgreSQL are made as the tests make them.
sys.path.insert(0, str(ROOT / "tests"))
