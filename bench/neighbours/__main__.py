"""Measure what one firm's load costs a neighbour: `python -m bench.neighbours --help`."""

import argparse
import signal
import sys

from bench.goals import judge_day_starts, judge_neighbours
from bench.neighbours.firms import ENGINES
from bench.neighbours.loads import SITUATIONS
from bench.neighbours.measuring import FULL, QUICK, measure_neighbours
from bench.neighbours.start_of_day import ORGANISATIONS, ROUNDS, measure_day_starts
from bench.report import print_day_starts, print_neighbours, print_verdicts


def main() -> None:
    """Measure, and print what was found."""
    parser = argparse.ArgumentParser(description="Measure what one firm's load costs a neighbour.")
    parser.add_argument("--quick", action="store_true", help="a rough look with few requests")
    parser.add_argument("--engine", choices=ENGINES, help="only this engine")
    listed = ", ".join(f"{number} {situation.name}" for number, situation in SITUATIONS.items())
    parser.add_argument(
        "--situation", type=int, choices=range(len(SITUATIONS) + 1), help=f"only one of {listed}, 0 memory"
    )
    parser.add_argument("--days", action="store_true", help="only the start of the day of many organisations")
    given = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        # As an exception, so that everything that was started is ended.
        signal.signal(number, lambda *_: sys.exit("The bench was ended."))
    engines = [given.engine] if given.engine else ENGINES
    if given.days:
        days = measure_day_starts(ORGANISATIONS // 10 if given.quick else ORGANISATIONS, ROUNDS, engines)
        print_day_starts(days)
        print_verdicts(judge_day_starts(days))
        return
    found = measure_neighbours(
        QUICK if given.quick else FULL,
        engines,
        [*SITUATIONS] if given.situation is None else [given.situation] * bool(given.situation),
        memory=not given.situation,
    )
    print_neighbours(found)
    print_verdicts(judge_neighbours(found))


if __name__ == "__main__":
    main()
