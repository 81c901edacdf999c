"""The type of JSON objects: answers of operations, and outcomes of commands."""

from typing import Any

JsonObject = dict[str, Any]
