from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainstay.identity.encryption import Encryptor

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
LATER = NOW + timedelta(minutes=2)
SEALER = Encryptor(b"the secret of an installation")


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")))
def test_what_was_sealed_is_opened(about: str, text: str) -> None:
    assert SEALER.decrypt(about, SEALER.encrypt(about, text, LATER), NOW) == text


def test_a_sealed_text_shows_nothing_and_is_different_each_time() -> None:
    sealed = [SEALER.encrypt("x", "a long and telling text", LATER) for _ in range(2)]
    assert b"telling" not in urlsafe_b64decode(sealed[0])
    assert sealed[0] != sealed[1]
    # Not even what two of them have in common.
    first, second = (urlsafe_b64decode(each)[24:-32] for each in sealed)
    assert first != second


def test_it_is_good_for_a_while_for_what_it_is_about_and_here_only() -> None:
    sealed = SEALER.encrypt("x", "text", LATER)
    assert SEALER.decrypt("x", sealed, LATER - timedelta(seconds=1)) == "text"
    assert SEALER.decrypt("x", sealed, LATER) is None
    assert SEALER.decrypt("y", sealed, NOW) is None
    assert Encryptor(b"another").decrypt("x", sealed, NOW) is None


def test_no_bit_of_it_can_be_altered() -> None:
    whole = urlsafe_b64decode(SEALER.encrypt("x", "text", LATER))
    for place in range(len(whole) * 8):
        altered = bytearray(whole)
        altered[place // 8] ^= 1 << place % 8
        assert SEALER.decrypt("x", urlsafe_b64encode(altered).decode(), NOW) is None


@pytest.mark.parametrize("nonsense", ["", "x", "====", "ü", "x" * 76, "A" * 5000])
def test_nonsense_opens_to_nothing(nonsense: str) -> None:
    assert SEALER.decrypt("x", nonsense, NOW) is None
