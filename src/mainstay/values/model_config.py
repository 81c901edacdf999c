"""The settings that all input and output models share: camelCase, immutable, and built when first used."""

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

# Input: a field with an unknown name is refused.
INPUT_CONFIG = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, defer_build=True)
# Output: code creates it with the Python names of its fields.
OUTPUT_CONFIG = ConfigDict(frozen=True, alias_generator=to_camel, validate_by_name=True, defer_build=True)
