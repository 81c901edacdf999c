import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainstay.values.email_address import check_address, fold_address, to_wire_address

TAKEN = [
    "kim@example.com",
    "Nina.O'Neil+x@new.example",
    "a@b",
    "kim@server",
    "zoë@bücher.example",
    "info@straße.example",
    "info@xn--strae-oqa.example",
    "INFO@MÜLLER.EXAMPLE",
    "x@[127.0.0.1]",
    "x@[IPv6:::1]",
    "!#$%&'*+-/=?^_`{|}~@a-1.b2",
    "ρωτώ@οδός.example",
    "x@a--b.r3---sn.example",
    f"{'x' * 64}@{'y' * 63}.{'y' * 63}.{'y' * 61}",
]


@pytest.mark.parametrize("text", TAKEN)
def test_an_address_that_can_be_mailed_is_kept_as_it_was_given(text: str) -> None:
    assert check_address(text) == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("kim", "is not an email address such as kim@example.com"),
        ("@example.com", "is not an email address such as kim@example.com"),
        ("kim@", "is not an email address such as kim@example.com"),
        ("a@b@c", "has more than one @"),
        ("a b@c", "contains a space"),
        ("a@b c", "contains a space"),
        ("a\xa0b@c", "contains a control character or special space"),
        ("a@b\nBcc: c@d", "has more than one @"),
        ("a@b\nBcc", "contains a control character or special space"),
        ("a\u202eb@c", "contains a control character or special space"),
        ("a@b\u200dc", "contains a control character or special space"),
        ("a,b@c", "has a comma before the @, which is not allowed"),
        ('"a"@c', "has a quotation mark before the @, which is not allowed"),
        ("a(b)@c", "has ( before the @, which is not allowed"),
        ("a..b@c.example", "has a misplaced dot before the @"),
        (".a@c.example", "has a misplaced dot before the @"),
        ("a.@c.example", "has a misplaced dot before the @"),
        ("a@c..example", "has a misplaced dot after the @"),
        ("a@c.example.", "has a misplaced dot after the @"),
        ("a@.example", "has a misplaced dot after the @"),
        ("x" * 65 + "@c", "has more than 64 characters before the @"),
        ("ü" * 33 + "@c", "has more than 64 characters before the @"),
        (f"a@{'y.' * 126}y", "is longer than 254 characters"),
        (f"a@{'ü.' * 60}y", "is longer than 254 characters"),
        *(
            (f"a@{domain}", "has no domain such as example.com after the @")
            for domain in (
                "my_server.example",
                "-a.example",
                "a-.example",
                "a,b.example",
                "y" * 64,
                "ü" * 64,
                "127.0.0.1",
                "[127.0.0.999]",
                "[::1]",
                "[IPv6:fe80::1%eth0]",
                "[IPv6:x]",
                "xn--a.example",
                "xn--.example",
                "a\u2665b.example",
                "a\u3002example",
                "\u0301a.example",
            )
        ),
    ],
)
def test_what_can_never_be_mailed_is_refused_with_the_reason(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(problem)}$"):
        check_address(text)


@pytest.mark.parametrize(
    "ways",
    [
        ("Kim@Example.com", "kim@example.COM", " kim@example.com "),
        ("kim@straße.example", "KIM@STRAẞE.example", "kim@xn--strae-oqa.example", "kim@XN--STRAE-OQA.example"),
        ("zoë@x", "zoe\u0308@x", "ZOË@x"),
        ("kim@bücher.example", "kim@bu\u0308cher.example", "kim@BÜCHER.EXAMPLE"),
        ("x@[IPv6:0:0::1]", "X@[ipv6:::1]"),
    ],
)
def test_two_ways_to_write_an_address_fold_to_the_same(ways: tuple[str, ...]) -> None:
    assert len({fold_address(way) for way in ways}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("kim@straße.example", "kim@strasse.example"),
        ("straße@x.example", "strasse@x.example"),
        ("kim@οδός.example", "kim@οδόσ.example"),
        ("ﬁ@x.example", "fi@x.example"),
    ],
)
def test_two_mailboxes_do_not_fold_to_the_same(one: str, other: str) -> None:
    assert fold_address(one) != fold_address(other)


def test_mail_goes_to_the_local_part_as_given_at_the_domain_in_a_labels() -> None:
    assert to_wire_address("Zoë.X@Straße.example") == "Zoë.X@xn--strae-oqa.example"
    assert to_wire_address("Kim@EXAMPLE.com") == "Kim@example.com"


def test_what_was_kept_before_the_rule_still_folds() -> None:
    assert fold_address("A..B@My_Server.example.") == "a..b@my_server.example."
    assert fold_address("Nobody") == "nobody"
    assert fold_address("ü" * 60_000) == "ü" * 60_000


@given(st.text(max_size=80) | st.from_regex(r"[^@]{0,20}@[^@]{0,20}", fullmatch=True))
def test_a_folded_form_folds_to_itself_and_has_no_capitals(text: str) -> None:
    folded = fold_address(text)
    assert fold_address(folded) == folded
    assert not re.search("[A-Z]", folded)


@given(st.from_regex(r"\w{1,12}@\w{1,12}\.example", fullmatch=True))
def test_what_is_mailed_folds_to_what_was_given(text: str) -> None:
    try:
        wire = to_wire_address(text)
    except ValueError:
        return
    assert wire.partition("@")[2].isascii()
    assert fold_address(wire) == fold_address(text)
    assert fold_address(unicodedata.normalize("NFD", text)) == fold_address(text)
