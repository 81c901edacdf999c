"""A search of tools as clients do it: BM25 over their names, descriptions and the descriptions of their parameters."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

# The usual constants: how much repeated words count, and how much the length of a text.
_SATURATION, _LENGTH_WEIGHT = 1.2, 0.75
_WORD = re.compile(r"[A-Z]?[a-z0-9]+")
_STOP_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "do",
        "does",
        "for",
        "from",
        "has",
        "have",
        "how",
        "i",
        "in",
        "is",
        "it",
        "its",
        "me",
        "my",
        "of",
        "on",
        "or",
        "our",
        "that",
        "the",
        "their",
        "them",
        "there",
        "this",
        "to",
        "us",
        "was",
        "we",
        "were",
        "what",
        "when",
        "which",
        "who",
        "will",
        "with",
        "you",
        "your",
    ]
)


class ToolSearch:
    """Finds tools for a task."""

    def __init__(self, tools: Sequence[Mapping[str, Any]]) -> None:
        self._names = [str(tool["name"]) for tool in tools]
        self._counts = [Counter(_split_words(" ".join(_texts_of(tool)))) for tool in tools]
        self._lengths = [counts.total() for counts in self._counts]
        self._average = sum(self._lengths) / len(tools)
        self._found_in = Counter(word for counts in self._counts for word in counts)

    def find(self, task: str, most: int = 5) -> list[str]:
        """Return the names of the best tools for a task, the best first; ties keep the order of the list."""
        words = list(_split_words(task))
        scores = [self._score(words, number) for number in range(len(self._names))]
        best = sorted(range(len(scores)), key=lambda number: -scores[number])
        return [self._names[number] for number in best[:most]]

    def _score(self, words: Sequence[str], number: int) -> float:
        counts, length = self._counts[number], self._lengths[number] / self._average
        weight = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * length)
        return sum(
            self._rarity(word) * counts[word] * (_SATURATION + 1) / (counts[word] + weight)
            for word in words
            if word in counts
        )

    def _rarity(self, word: str) -> float:
        found = self._found_in[word]
        return math.log(1 + (len(self._names) - found + 0.5) / (found + 0.5))


def _texts_of(tool: Mapping[str, Any]) -> Iterator[str]:
    yield tool["name"].replace("_", " ")
    yield tool["description"]
    yield from _field_texts(tool["inputSchema"])


def _field_texts(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        for name, field in part.get("properties", {}).items():
            yield f"{name} {field.get('description', '')}"
            yield from _field_texts(field)
        for keyword in ("items", "anyOf", "additionalProperties"):
            yield from _field_texts(part.get(keyword))
    elif isinstance(part, list):
        for option in part:
            yield from _field_texts(option)


def _split_words(text: str) -> Iterator[str]:
    """Yield the words of a text in a simple stem; common words say nothing."""
    for word in _WORD.findall(text):
        folded = word.lower()
        if folded not in _STOP_WORDS:
            yield _stem(folded)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            return word.removesuffix(ending)
    return word
