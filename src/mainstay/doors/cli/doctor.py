"""The operator's command that examines the installation."""

from argparse import Namespace

from mainstay.doors.cli.output import CheckFailed
from mainstay.maintenance.doctor import examine_installation
from mainstay.settings import Settings
from mainstay.values.json_object import JsonObject
from mainstay.values.moments import system_clock


def doctor(settings: Settings, _options: Namespace) -> JsonObject:
    """Return all findings, with what is to be mended; raise CheckFailed if there is anything."""
    findings = [finding._asdict() for finding in examine_installation(settings, system_clock())]
    faulty = sum(1 for finding in findings if finding["mend"])
    outcome: JsonObject = {"well": not faulty, "findings": findings}
    if faulty:
        raise CheckFailed(outcome, f"{faulty} {'problem' if faulty == 1 else 'problems'} to fix.")
    return outcome
