"""Dates, times and amounts within a text, as people write them where they are.

What operations say is for programs as well, which are served by `2026-11-30` and `7186.14 GBP`; on a page it reads
`30 Nov 2026` and `7,186.14 GBP`. What someone has typed stays as they typed it: what stands in quotes, behind a line
break (a mail that is shown), and whatever is handed in; and so does an example of how a date is written.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from mainstay.doors.pages.showing import Here
from mainstay.doors.pages.words import date_words, moment
from mainstay.terms.refusal import Invalid, Refusal
from mainstay.values.money import CURRENCIES

_KEPT = r"“[^”]{0,500}”|\"[^\"]{0,500}\"|\b(?:as|like) \d{4}-\d\d-\d\d[^;.]*|\n[\s\S]*"
_FOUND = (
    r"(?<![\w./-])(?P<day>\d{4}-\d\d-\d\d)"
    r"(?:T(?P<clock>\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?P<offset>Z|[+-]\d\d:\d\d)?)?(?![\w/-])"
    r"|(?<![\w.,/-])(?P<amount>-?\d+(?:\.\d+)?) (?P<currency>[A-Z]{3})\b"
    r"| \((?P<zone>[A-Z]\w+(?:/[\w+-]+)+)\)"
)
_PLAIN = re.compile(_FOUND)
_TEXT = re.compile(f"(?P<kept>{_KEPT})|{_FOUND}")


def written_here(text: str, here: Here, typed: Iterable[str] = ()) -> str:
    """A text as people write it where they are, but for what was typed."""
    own = [re.escape(one) for one in typed if one in text and _PLAIN.search(one) and not _PLAIN.fullmatch(one)]
    pattern = re.compile(f"(?P<typed>{'|'.join(own)})|{_TEXT.pattern}") if own else _TEXT
    return pattern.sub(lambda found: _written(found, here), text)


def said_here(answer: dict[str, Any], here: Here, typed: Iterable[str] = ()) -> dict[str, Any]:
    """An answer or a preview, likewise in all that it says in sentences."""
    own = tuple(typed)
    is_preview = answer["object"] == "preview"
    for name in ("effects", "warnings", "blockers") if is_preview else ("warnings",):
        if name in answer:
            answer[name] = [written_here(text, here, own) for text in answer[name]]
    return answer | {"summary": written_here(answer["summary"], here, own)} if is_preview else answer


def refused_here(refusal: Refusal, here: Here, typed: Iterable[str] = ()) -> Refusal:
    """A refusal, likewise."""
    own = tuple(typed)
    if isinstance(refusal, Invalid):
        faults = [replace(fault, problem=written_here(fault.problem, here, own)) for fault in refusal.faults]
        return Invalid(faults, written_here(refusal.text, here, own))
    refusal.text = written_here(refusal.text, here, own)
    return refusal


def _written(found: re.Match[str], here: Here) -> str:
    parts = found.groupdict()
    if parts["day"]:
        return _time(found[0], parts, here)
    if parts["currency"] in CURRENCIES:
        return f"{here.number(parts['amount'])} {parts['currency']}"
    if parts["zone"]:
        # Whoever is there needs no name for it.
        city = parts["zone"].rpartition("/")[2].replace("_", " ")
        return "" if parts["zone"] == here.zone else f" ({city} time)"
    return found[0]


def _time(text: str, parts: dict[str, str], here: Here) -> str:
    """A date, a time as clocks show it where it is, or a moment by the clocks here; what is none of them, as it is."""
    day = date_words(parts["day"])
    if day == parts["day"]:
        return text
    if not parts["clock"]:
        return day
    try:
        return moment(text, here.zone) if parts["offset"] else f"{day}, {parts['clock']}"
    except ValueError:
        return text
