import pytest

from mainstay.identity.passwords import generate_password, hash_password, is_password


def test_a_password_is_known_again_and_another_is_not() -> None:
    stored_hash = hash_password("correct horse")
    assert is_password("correct horse", stored_hash)
    for other in ("", "correct hors", "correct horse ", "Correct horse"):
        assert not is_password(other, stored_hash)


@pytest.mark.usefixtures("real_hashing")
def test_what_is_kept_does_not_hold_the_password_and_names_the_method_and_its_cost() -> None:
    stored_hash = hash_password("correct horse")
    assert "correct" not in stored_hash
    assert stored_hash.startswith("$argon2id$v=19$m=19456,t=2,p=1$")


def test_the_same_password_is_never_kept_the_same_way() -> None:
    assert hash_password("correct horse") != hash_password("correct horse")


def test_what_was_never_a_hash_is_no_password() -> None:
    for stored_hash in ("", "x", "$argon2id$"):
        assert not is_password("", stored_hash)


def test_a_password_that_is_made_is_long_and_new() -> None:
    made = {generate_password() for _ in range(100)}
    assert len(made) == 100
    assert {len(password) for password in made} == {20}
