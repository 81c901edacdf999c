"""Formats the outcome of a command for people."""

from typing import Any

from mainstay.values.json_object import JsonObject


class CheckFailed(Exception):
    """Raised when a check finds something wrong; holds the outcome and a sentence about it."""

    def __init__(self, outcome: JsonObject, text: str) -> None:
        super().__init__(text)
        self.outcome = outcome


def format_outcome(command: str, outcome: JsonObject, base_url: str) -> str:
    """Return the outcome of a command as lines of text."""
    if command == "demo":
        return _format_demo(outcome, base_url)
    if command == "assistant_eval":
        return _format_evaluation(outcome)
    if "findings" in outcome:
        return "".join(map(_format_finding, outcome["findings"]))
    if "proofs" in outcome:
        others = {name: value for name, value in outcome.items() if name not in {"sound", "proofs"}}
        return "".join([*(f"{line}\n" for line in _format_lines(others)), *map(_format_invariant, outcome["proofs"])])
    return "".join(f"{line}\n" for line in _format_lines(outcome))


def _format_lines(value: Any, indent: str = "") -> list[str]:
    if isinstance(value, dict):
        lines = []
        for name, inner in value.items():
            if isinstance(inner, dict | list):
                lines += [f"{indent}{name}:", *_format_lines(inner, indent + "  ")]
            else:
                lines.append(f"{indent}{name}: {'-' if inner is None else inner}")
        return lines
    if isinstance(value, list):
        return [line for inner in value for line in (*_format_lines(inner, indent), "")]
    return [f"{indent}{value}"]


def _format_finding(finding: JsonObject) -> str:
    text = f"{'FIX ' if finding['mend'] else 'ok  '}  {finding['about']}: {finding['found']}\n"
    return text + (f"      {finding['mend']}\n" if finding["mend"] else "")


def _format_invariant(report: JsonObject) -> str:
    text = f"{'WRONG' if report['flaws'] else 'holds'}  {report['holds']}\n"
    for flaw in report["flaws"]:
        place = f" (in {flaw['organisation']})" if flaw["organisation"] else ""
        text += f"       {flaw['where']}: {flaw['problem']}{place}\n"
    return text + (f"       and {report['more']} more\n" if report["more"] else "")


_EVALUATION_COLUMNS = "{:<20} {:<13} {:<7} {:>5} {:>8} {:>8}  {}\n"


def _format_evaluation(outcome: JsonObject) -> str:
    text = _EVALUATION_COLUMNS.format("task", "kind", "result", "calls", "tokens", "seconds", "why")
    for task in outcome["tasks"]:
        result, tokens = "passed" if task["passed"] else "FAILED", "-" if task["tokens"] is None else task["tokens"]
        figures = task["calls"], tokens, f"{task['seconds']:.1f}"
        line = _EVALUATION_COLUMNS.format(task["id"], task["kind"], result, *figures, " ".join(task["faults"]))
        text += f"{line.rstrip()}\n"
    return f"{text}{outcome['passed']} of {len(outcome['tasks'])} tasks passed.\n"


# Shown if the person has chosen another password.
_NOT_THE_DEMO_ONE = "(password was changed)"


def _format_demo(outcome: JsonObject, base_url: str) -> str:
    people = "".join(
        f"  {person['role']:<14} {person['email']:<26} {person['password'] or _NOT_THE_DEMO_ONE}\n"
        for person in outcome["people"]
    )
    return f"""\
{outcome["organisation"]["name"]} ({outcome["organisation"]["id"]})

Sign-ins, at {base_url}/sign-in:
{people}
Keys, shown only once:
  read-only       {outcome["keys"]["readOnly"]}
  read and write  {outcome["keys"]["readWrite"]}

Once the server runs, try:
  curl -H "Authorization: Bearer {outcome["keys"]["readOnly"]}" {base_url}/api/v1/organisation

"""
