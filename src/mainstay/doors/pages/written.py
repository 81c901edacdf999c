"""Times as people write them, into the one way in which operations take them."""

import re

_CLOCK = r"([0-9]{1,2})(?:[:.h]?([0-9]{2}))?"
_SPAN = re.compile(f"{_CLOCK} *(?:-|to|\N{EN DASH}) *{_CLOCK}")


def span(written: str) -> dict[str, str]:
    """A stretch of a day: `8-12`, `7.30-16:00`; anything else goes on as it is, to be refused in words."""
    found = _SPAN.fullmatch(written.strip())
    if found is None:
        return {"from": written, "until": written}
    hour, minutes, until_hour, until_minutes = found.groups()
    return {"from": f"{int(hour):02}:{minutes or '00'}", "until": f"{int(until_hour):02}:{until_minutes or '00'}"}
