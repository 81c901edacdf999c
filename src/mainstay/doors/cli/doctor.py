"""What is wrong with this installation, told to whoever runs it."""

from argparse import Namespace

from mainstay.doors.cli.telling import Outcome, Unsound
from mainstay.safekeeping.doctor import examine
from mainstay.settings import Settings
from mainstay.values.moments import system_clock


def doctor(settings: Settings, _words: Namespace) -> Outcome:
    """Everything that was looked at, and what is to be mended."""
    findings = [finding._asdict() for finding in examine(settings, system_clock())]
    ill = sum(1 for finding in findings if finding["mend"])
    outcome: Outcome = {"well": not ill, "findings": findings}
    if ill:
        raise Unsound(outcome, f"{ill} {'thing is' if ill == 1 else 'things are'} to be mended.")
    return outcome
