"""The strict decoder, for itself."""

import json
import re
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainstay.doors.json import MAX_DEPTH, MAX_INTEGER, InvalidJson, decode_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_INTEGER, MAX_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=30,
)
MEGABYTE = 1_000_000


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth_of, value), default=0)
    return 0


COMPACT = {"ensure_ascii": False, "separators": (",", ":")}


@given(VALUES, st.sampled_from([{}, {"ensure_ascii": False}, {"indent": 2}, COMPACT]))
def test_what_json_writes_is_read_back(value: Any, style: dict[str, Any]) -> None:
    text = json.dumps(value, **style)

    if depth_of(value) > MAX_DEPTH:
        with pytest.raises(InvalidJson, match="deeper"):
            decode_json(text.encode())
    else:
        # As texts, which tell 1 from 1.0 and from true.
        assert repr(decode_json(text.encode())) == repr(value)


@given(st.binary(max_size=200) | st.text(alphabet='{}[]",:\\u0d8f 1eE.-+truefalsn', max_size=80).map(str.encode))
def test_any_bytes_are_read_as_the_standard_library_reads_them_or_refused(body: bytes) -> None:
    try:
        value = decode_json(body)
    except InvalidJson:
        return
    assert repr(value) == repr(json.loads(body))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "expecting value"),
        (b"\xff", "not UTF-8"),
        (b'"\xed\xa0\x80"', "not UTF-8"),
        (b'"\xc0\x80"', "not UTF-8"),
        ("{}".encode("utf-16"), "not UTF-8"),
        ("{}".encode("utf-16-le"), "expecting"),
        ("{}".encode("utf-32-le"), "expecting"),
        (b"\xef\xbb\xbf{}", "it begins with a byte order mark"),
        (b"NaN", "NaN is not a number"),
        (b"[Infinity]", "Infinity is not a number"),
        (b'{"a":-Infinity}', "-Infinity is not a number"),
        (b"1e999", "too large"),
        (b"[-1e309]", "too large"),
        (b"9007199254740992", "2^53"),
        (b"-9007199254740992", "2^53"),
        (b"9" * 5000, "2^53"),
        (b'{"a":1,"a":1}', "'a' is there twice"),
        (b'[{"b":{"a":1,"\\u0061":2}}]', "'a' is there twice"),
        (rb'{"\ud800":1,"\ud800":1}', "is there twice"),
        (rb'"\ud800"', "character that is not allowed"),
        (rb'["\udfff"]', "character that is not allowed"),
        (rb'{"\ud83d":1}', "character that is not allowed"),
        (rb'{"a":[{"b":"\u0000"}]}', "character that is not allowed"),
        (b'"\0"', "invalid control character at line 1, column 2"),
        (b'"\n"', "invalid control character"),
        (b"01", "extra data"),
        (b"+1", "expecting value"),
        (b".5", "expecting value"),
        (b"'a'", "expecting value"),
        (b"[1,]", "at line 1"),
        (b"{}{}", "extra data at line 1, column 3"),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "deeper than 32"),
        (b"[" * 8000, "deeper than 32"),
        (b'{"a":' * 3000, "deeper than 32"),
        (b"[" * 200_000 + b"]" * 200_000, "deeper than 32"),
    ],
    ids=lambda given: repr(given[:20]),
)
def test_what_could_be_read_in_two_ways_is_refused_with_the_reason(body: bytes, why: str) -> None:
    with pytest.raises(InvalidJson, match=re.escape(why)):
        decode_json(body)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b" {} ", {}),
        (b"9007199254740991", MAX_INTEGER),
        (b"-9007199254740991", -MAX_INTEGER),
        (b"-0", 0),
        (b"1e308", 1e308),
        (b"1e-999", 0.0),
        (b"0." + b"3" * 9000, 1 / 3),
        (rb'"\ud83d\ude00"', "\U0001f600"),
        (rb'"\\ud800"', "\\ud800"),
        (rb'"\\u0000"', "\\u0000"),
        ("\u00fc".join('""').encode(), "\u00fc"),
        (b'"\x7f"', "\x7f"),
        (b'"[[[["', "[[[["),
        (b'"' + rb"\"[{" * 100 + b'"', '"[{' * 100),
        (b'{"a":1,"b":{"a":1}}', {"a": 1, "b": {"a": 1}}),
        (b'{"":0}', {"": 0}),
    ],
)
def test_what_is_plain_is_read(body: bytes, value: object) -> None:
    assert decode_json(body) == value


def test_brackets_count_where_they_nest_and_only_there() -> None:
    deepest = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert depth_of(decode_json(deepest)) == MAX_DEPTH
    assert len(decode_json(b"[" + b",".join([deepest[1:-1]] * 5) + b"]")) == 5
    assert decode_json(b'["' + b"[" * 100 + b'","\\"' + b"{" * 100 + b'"]') == ["[" * 100, '"' + "{" * 100]


# Nobody measures time here: where one of these took quadratic time, it would not come to an end.
@pytest.mark.parametrize("size", [16_384, MEGABYTE])
@pytest.mark.parametrize(
    "unit",
    [
        *(b'"', b"\\", b'\\"', b'"\\', b"[", b"]", b"[]", b"[],", b"{", b'{"', b'""', b'"",', b"1", b"1,", b"-", b" "),
        *(b"\n", b"e1", b"0.", b":", b"\\u", b"\\ud800", b'"\\u0000",', b"\xc3\xa9", b"null,", b"//", b'"a":'),
    ],
)
def test_the_worst_bodies_come_to_an_end(unit: bytes, size: int) -> None:
    for opening in (b"", b'"', b"[", b'["\\'):
        body = (opening + unit * (size // len(unit)))[:size]
        with suppress(InvalidJson):
            assert decode_json(body) == json.loads(body)


@pytest.mark.parametrize("count", [1_000, 100_000])
def test_many_fields_come_to_an_end_also_when_the_last_one_is_there_twice(count: int) -> None:
    names = [f'"{number:x}":0' for number in range(count)]

    assert len(decode_json(("{" + ",".join(names) + "}").encode())) == count
    with pytest.raises(InvalidJson, match="is there twice"):
        decode_json(("{" + ",".join([*names, names[-1]]) + "}").encode())


def test_a_long_name_is_not_repeated_in_full() -> None:
    name = "n" * 5000

    with pytest.raises(InvalidJson) as caught:
        decode_json(f'{{"{name}":1,"{name}":2}}'.encode())

    assert len(str(caught.value)) < 100
