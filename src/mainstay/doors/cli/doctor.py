"""The operator's command that examines the installation."""

from argparse import Namespace

from mainstay.doors.cli.output import CheckFailed
from mainstay.maintenance.doctor import examine_installation
from mainstay.settings import Settings
from mainstay.values.json_object import JsonObject
from mainstay.values.moments import system_clock


def doctor(settings: Settings, _options: Namespace) -> JsonObject:
    """Return all findings, each with its remedy if it is a problem; raise CheckFailed if there are problems."""
    diagnoses = list(examine_installation(settings, system_clock()))
    problems = sum(diagnosis.remedy is not None for diagnosis in diagnoses)
    findings = [{"about": about, "found": found, "mend": remedy} for about, found, remedy in diagnoses]
    outcome: JsonObject = {"well": not problems, "findings": findings}
    if problems:
        raise CheckFailed(outcome, f"{problems} {'problem' if problems == 1 else 'problems'} to fix.")
    return outcome
