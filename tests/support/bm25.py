"""Ranks texts by BM25, as the search of clients that hold many tools does."""

import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

# The usual constants: how soon a repeated word counts no more, and how much a long text is discounted.
_SATURATION, _LENGTH_DISCOUNT = 1.2, 0.75
_WORD = re.compile(r"[a-z0-9]+")
# The words that Lucene leaves out of English texts.
_STOP_WORDS = {
    *("a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of"),
    *(
        "on",
        "or",
        "such",
        "that",
        "the",
        "their",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "was",
        "will",
        "with",
    ),
}


def text_of_tool(tool: Mapping[str, Any]) -> str:
    """Return the text of a tool as the tool server lists it: its name, its description and its parameters."""
    fields = tool["inputSchema"]["properties"].items()
    parameters = [f"{name} {field.get('description', '')}" for name, field in fields]
    return " ".join([tool["name"].replace("_", " "), tool["description"], *parameters])


def rank_texts(query: str, texts: Mapping[str, str]) -> list[str]:
    """Return the names of the texts, those that match the query best first."""
    counts = {name: Counter(_split_words(text)) for name, text in texts.items()}
    mean_length = sum(count.total() for count in counts.values()) / len(counts)
    containing = Counter(word for count in counts.values() for word in count)

    def rate(name: str) -> float:
        count = counts[name]
        length = 1 - _LENGTH_DISCOUNT + _LENGTH_DISCOUNT * count.total() / mean_length
        return sum(
            math.log(1 + (len(counts) - containing[word] + 0.5) / (containing[word] + 0.5))
            * count[word]
            * (_SATURATION + 1)
            / (count[word] + _SATURATION * length)
            for word in set(_split_words(query))
        )

    return sorted(texts, key=rate, reverse=True)


def _split_words(text: str) -> list[str]:
    """Split a text into words without their endings; a name such as `plan_visit` has two."""
    return [
        re.sub(r"(?<=\w{3})(?:ing|ed|es|s|e)$", "", word)
        for word in _WORD.findall(text.lower())
        if word not in _STOP_WORDS
    ]
