"""The outcome of a command, told to a person."""

from typing import Any


def tell(command: str, outcome: dict[str, Any], base_url: str) -> str:
    """A few lines of text."""
    if command == "demo":
        return _demo(outcome, base_url)
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


def _demo(outcome: dict[str, Any], base_url: str) -> str:
    people = "".join(
        f"  {person['role']:<14} {person['email']:<26} {person['password']}\n" for person in outcome["people"]
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
