"""How the parts of a record are written: in camelCase, never changed once made, and built when first used."""

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

# What someone sends: a name that nobody knows is refused.
GIVEN = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, defer_build=True)
# What is shown, made by the names it has here.
TOLD = ConfigDict(frozen=True, alias_generator=to_camel, validate_by_name=True, defer_build=True)
