from enum import StrEnum
from typing import Annotated, Literal

import pytest
from pydantic import Field

from mainstay.vocabulary.refusal import Invalid
from mainstay.vocabulary.schemas import Input, ListInput
from mainstay.vocabulary.validation import parse_input


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


class Inner(Input):
    unit_name: str


class Everything(Input):
    text: Annotated[str, Field(min_length=1, max_length=3)] = "x"
    code: Annotated[str, Field(pattern=r"^[a-z]+$")] = "x"
    number: Annotated[int, Field(ge=1, le=9)] = 1
    flag: bool = False
    words: Annotated[list[str], Field(max_length=2)] = Field(default_factory=lambda: ["x"])
    size: Size = Size.SMALL
    state: Literal["on", "off"] = "on"
    inner: Inner | None = None
    first_inner: Inner | None = None
    inners: list[Inner] = Field(default_factory=list)


class Needed(Input):
    first_name: str
    last_name: str


def refusal_text(model: type[Input], raw: bytes | dict[str, str]) -> str:
    with pytest.raises(Invalid) as refusal:
        parse_input(model, raw)
    return refusal.value.text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b'{"text":1}', "text: is not text"),
        (b'{"text":null}', "text: is not text"),
        (b'{"text":""}', "text: is empty"),
        (b'{"text":"four"}', "text: is longer than 3 characters"),
        (b'{"code":"A"}', "code: has the wrong format"),
        (b'{"number":"1"}', "number: is not a whole number"),
        (b'{"number":1.5}', "number: is not a whole number"),
        (b'{"number":1.0}', "number: is not a whole number"),
        (b'{"number":true}', "number: is not a whole number"),
        (b'{"number":0}', "number: is below 1"),
        (b'{"number":10}', "number: is above 9"),
        (b'{"flag":"yes"}', "flag: is not true or false (send the JSON boolean true, not text)"),
        (b'{"flag":1}', "flag: is not true or false (send the JSON boolean true, not text)"),
        (b'{"words":"x"}', "words: is not a list"),
        (b'{"words":["a","b","c"]}', "words: has more than 2 entries"),
        (b'{"words":["a",2]}', "words.1: is not text"),
        (b'{"size":"huge"}', "size: is not one of 'small' or 'large'"),
        (b'{"state":"maybe"}', "state: is not one of 'on' or 'off'"),
        (b'{"inner":5}', "inner: is not an object"),
        (b'{"inner":{}}', "inner.unitName: is required"),
        (b'{"inners":[{"unitName":"hour"},{"unitName":1}]}', "inners.1.unitName: is not text"),
        (b'{"colour":"red"}', "colour: is not known here"),
        (b'{"first_inner":null}', "first_inner: is not known here"),
        (b"[]", "body: is not an object"),
        (b"null", "body: is not an object"),
        (b'"x"', "body: is not an object"),
    ],
)
def test_each_fault_is_told_in_plain_words(raw: bytes, text: str) -> None:
    assert refusal_text(Everything, raw) == text


def test_all_faults_are_told_in_one_sentence() -> None:
    assert refusal_text(Needed, b'{"age":7}') == "firstName: is required; lastName: is required; age: is not known here"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ({"limit": "ten"}, "limit: is not a whole number"),
        ({"limit": ""}, "limit: is not a whole number"),
        ({"limit": "1.5"}, "limit: is not a whole number"),
        ({"limit": "9" * 5000}, "limit: is too large"),
        ({"limit": "0"}, "limit: is below 1"),
        ({"limit": "101"}, "limit: is above 100"),
        ({"size": "1"}, "size: is not known here"),
        ({"starting_after": "x"}, "starting_after: is not known here"),
    ],
)
def test_the_words_of_a_query_are_read_as_strictly(raw: dict[str, str], text: str) -> None:
    assert refusal_text(ListInput, raw) == text


def test_a_query_is_turned_into_the_same_input() -> None:
    query = {"limit": "7", "startingAfter": "x"}
    assert parse_input(ListInput, query) == parse_input(ListInput, b'{"limit":7,"startingAfter":"x"}')


def test_what_was_sent_is_told_apart_from_what_was_left_out() -> None:
    assert parse_input(Everything, b'{"firstInner":null,"number":2}').sent_fields() == {
        "first_inner": None,
        "number": 2,
    }


def test_a_fault_never_repeats_what_was_sent() -> None:
    raw = b'{"text":"hunter2-secret","state":"hunter2-secret","hunter2":1,"number":"hunter2-secret"}'
    assert "hunter2-secret" not in refusal_text(Everything, raw)
