"""Several things are wrong with one request: which of them is told is decided by a fixed order."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations

import pytest

from mainstay.business.people.roles import remove_person
from mainstay.vocabulary.permissions import Access, Role
from support.cast import Cast
from support.raw_http import PEOPLE, check_refusal
from support.servers import RunningServer


@dataclass
class Attempt:
    """A change of a person that would succeed, until something is made wrong with it."""

    cast: Cast
    key: str
    read_only_key: str
    path: str
    person: str
    method: str = "PATCH"
    body: bytes = b'{"phone":"+44 20 7946 0000"}'
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})


def no_key(attempt: Attempt) -> None:
    attempt.key = "svc_sk_" + "x" * 43


def no_such_route(attempt: Attempt) -> None:
    attempt.path += "/nowhere"


def wrong_method(attempt: Attempt) -> None:
    attempt.method = "PUT"


def read_only(attempt: Attempt) -> None:
    attempt.key = attempt.read_only_key


def lapsed(attempt: Attempt) -> None:
    attempt.cast.lapse()


def plain_text(attempt: Attempt) -> None:
    attempt.headers["Content-Type"] = "text/plain"


def too_large(attempt: Attempt) -> None:
    attempt.body = attempt.body.ljust(16_385)


def malformed(attempt: Attempt) -> None:
    attempt.body = attempt.body.rstrip()[:-1]


def invalid(attempt: Attempt) -> None:
    attempt.body = b'{"phone":5}'


def no_such_person(attempt: Attempt) -> None:
    attempt.path = attempt.path.replace(attempt.person, "person_00000000000000000000000000")


def person_has_left(attempt: Attempt) -> None:
    attempt.cast.perform(remove_person, personId=attempt.person, confirmed=True)


def stale(attempt: Attempt) -> None:
    attempt.headers["If-Match"] = '"999"'


# In the order in which they are told. Those side by side exclude each other, or have no order among them.
FAULTS: list[list[tuple[Callable[[Attempt], None], int]]] = [
    [(no_key, 401)],
    [(no_such_route, 404), (wrong_method, 405)],
    [(read_only, 403)],
    [(lapsed, 402)],
    [(plain_text, 415)],
    [(too_large, 413)],
    [(malformed, 400)],
    [(invalid, 422)],
    [(no_such_person, 404)],
    [(person_has_left, 409), (stale, 412)],
]
PAIRS = [
    pytest.param(first, second, id=f"{first[0].__name__}-{second[0].__name__}")
    for earlier, later in combinations(FAULTS, 2)
    for first in earlier
    for second in later
]


def make_attempt(cast: Cast) -> Attempt:
    member = cast.people[Role.MEMBER]
    return Attempt(cast, cast.make_key(), cast.make_key(Access.READ), f"{PEOPLE}/{member}", member)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_of_two_faults_the_earlier_one_is_told(
    server: RunningServer,
    cast: Cast,
    first: tuple[Callable[[Attempt], None], int],
    second: tuple[Callable[[Attempt], None], int],
) -> None:
    attempt = make_attempt(cast)
    for fault, _ in (second, first):
        fault(attempt)

    answer = server.request(attempt.method, attempt.path, attempt.key, headers=attempt.headers, content=attempt.body)

    message = check_refusal(answer, first[1])
    if first[0] is no_such_route:
        assert message.startswith("There is nothing at this address.")
    if first[0] is wrong_method:
        assert answer.headers["Allow"] == "GET, HEAD, PATCH"


@pytest.mark.parametrize(("fault", "status"), [each for side in FAULTS for each in side])
def test_each_fault_alone_has_its_status(
    server: RunningServer, cast: Cast, fault: Callable[[Attempt], None], status: int
) -> None:
    attempt = make_attempt(cast)
    fault(attempt)

    answer = server.request(attempt.method, attempt.path, attempt.key, headers=attempt.headers, content=attempt.body)

    check_refusal(answer, status)


def test_without_a_fault_the_attempt_succeeds(server: RunningServer, cast: Cast) -> None:
    attempt = make_attempt(cast)

    answer = server.request(attempt.method, attempt.path, attempt.key, headers=attempt.headers, content=attempt.body)

    assert answer.json()["phone"] == "+44 20 7946 0000"


def test_a_wrong_method_is_told_which_methods_there_are(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    member = cast.people[Role.MEMBER]
    allowed = {
        "/api/v1/organisation": "GET, HEAD, PATCH",
        "/api/v1/me": "GET, HEAD",
        "/api/v1/people": "GET, HEAD, POST",
        f"/api/v1/people/{member}": "GET, HEAD, PATCH",
        f"/api/v1/people/{member}/remove": "POST",
        "/api/v1/openapi.json": "GET, HEAD",
    }

    for path, methods in allowed.items():
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
            if method not in methods.split(", "):
                answer = server.request(method, path, key)
                check_refusal(answer, 405)
                assert answer.headers["Allow"] == methods


@pytest.mark.parametrize(
    "path", ["", "/", "/nowhere", "/organisation/", "/organisation/x", "/people/", "/PEOPLE", "/people/x/y/z", "//me"]
)
def test_an_unknown_route_is_not_found_for_every_method(server: RunningServer, cast: Cast, path: str) -> None:
    key = cast.make_key(Access.READ)

    for method in ("GET", "POST", "DELETE"):
        check_refusal(server.request(method, f"/api/v1{path}", key), 404)


@pytest.mark.parametrize("segment", ["{}", "{personId}", "{person_id}", "%7B%7D", "%2F"])
def test_what_looks_like_a_parameter_is_an_id_like_any_other(server: RunningServer, cast: Cast, segment: str) -> None:
    check_refusal(server.request("GET", f"/api/v1/people/{segment}", cast.make_key()), 404)
