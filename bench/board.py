"""How long the schedule of a large firm takes: 30 people with 400 visits in a week, as a day, a week and a month.

Processor time of the whole application for one page, the median of many, and its size. `python -m bench.board` measures
it, and `--profile` says where the time of a page goes.
"""

import argparse
import cProfile
import pstats
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time_ns

# The parts of the bench and of the tests are found from the root, however this is started.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from mainstay.composition import open_performer
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_cast
from support.busy_week import MONDAY, plan_busy_week
from support.cast import make_cast
from support.in_process import InProcessServer, run_in_process
from support.installations import Installations

_PAGES = {
    "a day": f"/schedule?view=day&on={MONDAY}",
    "a week": f"/schedule?view=week&on={MONDAY}",
    "a month": f"/schedule?view=month&on={MONDAY}",
}
_ROUNDS = 40
_SHOWN_FUNCTIONS = 35


@dataclass(frozen=True, slots=True)
class BoardPage:
    """One view of the schedule: the processor time of a page, the median of many, and what is on it."""

    name: str
    milliseconds: float
    kilobytes: float
    visits: int


def main() -> None:
    """Make the firm, and print how long its pages take."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--profile", choices=[*_PAGES], help="say where the time of this page goes")
    profiled = options.parse_args().profile
    for page in measure_board(profiled):
        print(f"{page.name}: {page.milliseconds:.1f} ms, {page.kilobytes:.0f} KB, {page.visits} visits")


def measure_board(profiled: str | None = None) -> list[BoardPage]:
    """Make the firm, measure its pages, and print where the time of one of them goes if it is named."""
    with TemporaryDirectory() as folder:
        settings = Installations(Path(folder)).make_with_accounts("sqlite", Path(folder) / "firm")
        cast = make_cast(open_performer(settings))
        plan_busy_week(cast)
        with run_in_process(settings, with_worker=False) as server:
            office = sign_in_cast(server, cast, Role.OFFICE)
            pages = [_measure_page(office, name, path) for name, path in _PAGES.items()]
            if profiled:
                _print_profile(server, office, _PAGES[profiled])
            return pages


def _measure_page(office: BrowserSession, name: str, path: str) -> BoardPage:
    times = []
    for _ in range(_ROUNDS):
        began = process_time_ns()
        page = office.get(path)
        times.append((process_time_ns() - began) / 1e6)
    return BoardPage(name, median(times), len(page.text) / 1000, page.text.count("booked "))


def _print_profile(server: InProcessServer, office: BrowserSession, path: str) -> None:
    profile = cProfile.Profile()
    server.loop.call_soon_threadsafe(profile.enable)
    for _ in range(_ROUNDS):
        office.get(path)
    server.loop.call_soon_threadsafe(profile.disable)
    office.get("/health")
    pstats.Stats(profile).sort_stats("tottime").print_stats(_SHOWN_FUNCTIONS)


if __name__ == "__main__":
    main()
