"""The outcome of a command, told to a person."""

from typing import Any

# What a command gives: one JSON object.
Outcome = dict[str, Any]


class Unsound(Exception):
    """What was looked at is not as it should be: what was found, and one sentence about it."""

    def __init__(self, outcome: Outcome, sentence: str) -> None:
        super().__init__(sentence)
        self.outcome = outcome


def tell(command: str, outcome: Outcome, base_url: str) -> str:
    """A few lines of text."""
    if command == "demo":
        return _demo(outcome, base_url)
    if "findings" in outcome:
        return "".join(map(_finding, outcome["findings"]))
    if "proofs" in outcome:
        done = {name: value for name, value in outcome.items() if name not in {"sound", "proofs"}}
        return "".join([*(f"{line}\n" for line in _lines(done)), *map(_proof, outcome["proofs"])])
    return "".join(f"{line}\n" for line in _lines(outcome))


def _lines(value: Any, indent: str = "") -> list[str]:
    if isinstance(value, dict):
        lines = []
        for name, inner in value.items():
            if isinstance(inner, dict | list):
                lines += [f"{indent}{name}:", *_lines(inner, indent + "  ")]
            else:
                lines.append(f"{indent}{name}: {'-' if inner is None else inner}")
        return lines
    if isinstance(value, list):
        return [line for inner in value for line in (*_lines(inner, indent), "")]
    return [f"{indent}{value}"]


def _finding(found: Outcome) -> str:
    said = f"{'MEND' if found['mend'] else 'well'}  {found['about']}: {found['found']}\n"
    return said + (f"      {found['mend']}\n" if found["mend"] else "")


def _proof(found: Outcome) -> str:
    said = f"{'WRONG' if found['flaws'] else 'holds'}  {found['holds']}\n"
    for flaw in found["flaws"]:
        of = f" (in {flaw['organisation']})" if flaw["organisation"] else ""
        said += f"       {flaw['where']}: {flaw['problem']}{of}\n"
    return said + (f"       and {found['more']} more\n" if found["more"] else "")


# Where someone has chosen a password of their own meanwhile.
_ANOTHER = "(another password by now)"


def _demo(outcome: Outcome, base_url: str) -> str:
    people = "".join(
        f"  {one['role']:<14} {one['email']:<26} {one['password'] or _ANOTHER}\n" for one in outcome["people"]
    )
    return f"""\
{outcome["organisation"]["name"]} ({outcome["organisation"]["id"]})

Sign-ins, at {base_url}/sign-in:
{people}
Keys, shown this once:
  read only       {outcome["keys"]["readOnly"]}
  read and write  {outcome["keys"]["readWrite"]}

Once it serves, try:
  curl -H "Authorization: Bearer {outcome["keys"]["readOnly"]}" {base_url}/api/v1/organisation

"""
