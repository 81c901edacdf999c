"""Lists, and the parameters of every path."""

import pytest

from mainstay.business.organisation.settings import update_settings
from mainstay.business.people.operations import invite_person
from mainstay.business.people.roles import remove_person
from mainstay.business.quotes.operations import revise_quote
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_customer, make_job
from support.quotes import issue_quote
from support.raw_http import JSON, ORGANISATION, PEOPLE, check_refusal, remove_known_names
from support.servers import RunningServer

# Of this door, the smoke set on both engines.
pytestmark = pytest.mark.engines("sqlite", "postgresql")


def invite_people(cast: Cast, count: int) -> list[str]:
    return [
        cast.perform(invite_person, name=f"Person {number}", email=f"p{number}@list.example", role="member")["id"]
        for number in range(count)
    ]


def test_a_list_has_the_envelope_and_full_records(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()

    answer = server.request("GET", PEOPLE, key)

    listed = answer.json()
    assert list(listed) == ["object", "data", "hasMore"]
    assert listed["object"] == "list"
    assert listed["hasMore"] is False
    assert "ETag" not in answer.headers
    for person in listed["data"]:
        assert server.request("GET", f"{PEOPLE}/{person['id']}", key).json().items() >= person.items()


def test_an_empty_list_is_a_list(server: RunningServer, cast: Cast) -> None:
    answer = server.request("GET", f"{PEOPLE}?status=left", cast.make_key())

    assert answer.content == b'{"object":"list","data":[],"hasMore":false}'


def test_pages_follow_each_other_from_the_newest_without_gap_or_repeat(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    expected = [*cast.people.values(), *invite_people(cast, 25)][::-1]
    assert expected == sorted(expected, reverse=True)

    for limit in (1, 7, 25, 29, 30, 100):
        seen: list[str] = []
        more = True
        while more:
            behind = f"&startingAfter={seen[-1]}" if seen else ""
            page = server.request("GET", f"{PEOPLE}?limit={limit}{behind}", key).json()
            assert 1 <= len(page["data"]) <= limit
            seen += [person["id"] for person in page["data"]]
            more = page["hasMore"]
        assert seen == expected


def test_without_a_limit_a_page_has_25(server: RunningServer, cast: Cast) -> None:
    invite_people(cast, 21)

    page = server.request("GET", PEOPLE, cast.make_key()).json()

    assert (len(page["data"]), page["hasMore"]) == (25, True)


def test_a_filter_narrows_the_list(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    [invited] = invite_people(cast, 1)
    gone = cast.people[Role.SUBCONTRACTOR]
    cast.perform(remove_person, personId=gone, confirmed=True)

    def found(query: str) -> set[str]:
        return {person["id"] for person in server.request("GET", f"{PEOPLE}?{query}", key).json()["data"]}

    assert found("status=invited") == {invited}
    assert found("status=left") == {gone}
    assert found("role=member") == {invited, cast.people[Role.MEMBER]}
    assert found("role=member&status=active") == {cast.people[Role.MEMBER]}
    assert gone not in found("")


def test_a_list_shows_nobody_of_another_organisation(server: RunningServer, cast: Cast, other_cast: Cast) -> None:
    listed = server.request("GET", f"{PEOPLE}?limit=100", cast.make_key()).json()["data"]
    assert {person["id"] for person in listed} == set(cast.people.values())

    # Another organisation's record is no place to start from either: nothing is told by it.
    behind = server.request("GET", f"{PEOPLE}?startingAfter={other_cast.people[Role.OWNER]}", cast.make_key())
    assert {person["id"] for person in behind.json()["data"]} <= set(cast.people.values())


@pytest.mark.parametrize(
    "limit",
    ["0", "-1", "101", "1" + 21 * "0", "x", "", "1.0", "1.5", "1e1", "1_0", "05", "+5", "0x5", "%205", "%D9%A5"],
)
def test_a_malformed_limit_is_refused(server: RunningServer, cast: Cast, limit: str) -> None:
    assert check_refusal(server.request("GET", f"{PEOPLE}?limit={limit}", cast.make_key()), 422).startswith(
        "limit: is "
    )


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("startingAfter=", "startingAfter: is not the id of a person"),
        ("startingAfter=person_1", "startingAfter: is not the id of a person"),
        ("startingAfter=key_01M7FF7QPEW8W2APKVNX5RP16N", "startingAfter: is not the id of a person"),
        ("startingAfter=%27%20OR%201=1", "startingAfter: is not the id of a person"),
        (
            "starting_after=person_01M7FF7QPEW8W2APKVNX5RP16N",
            (
                "starting_after: is not known here"
                " (perhaps startingAfter, known: limit, startingAfter, status, role, text, order)"
            ),
        ),
        ("status=gone", "status: is not one of 'invited', 'active' or 'left'"),
        ("role=king", "role: is not one of 'owner', 'admin', 'office', 'member' or 'subcontractor'"),
        ("role=Owner", "role: is not one of 'owner', 'admin', 'office', 'member' or 'subcontractor'"),
        ("limit=5&limit=5", "limit: is sent twice"),
        ("limit=5&%6Cimit=6", "limit: is sent twice"),
        ("nonsense=1", "nonsense: is not known here"),
        ("limit=5&page=2&sort=name", "page: is not known here; sort: is not known here"),
        ("limit=0&status=gone", "limit: is below 1; status: is not one of 'invited', 'active' or 'left'"),
        ("role=%FF", "role: is not valid text"),
        ("role=%00", "role: is not valid text"),
    ],
)
def test_wrong_parameters_are_named(server: RunningServer, cast: Cast, query: str, told: str) -> None:
    assert remove_known_names(check_refusal(server.request("GET", f"{PEOPLE}?{query}", cast.make_key()), 422)) == told


def test_an_unknown_parameter_is_refused_on_every_path(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    member = f"{PEOPLE}/{cast.people[Role.MEMBER]}"

    for query, message in (
        ("x=1", "x: is not known here"),
        ("x=1&x=2", "x: is sent twice"),
        ("x=1&y=2", "x: is not known here; y: is not known here"),
        ("x=1&x=2&y=3", "x: is sent twice; y: is not known here"),
        ("=1", "query: has a parameter without a name"),
        ("personId=1", "personId: is not known here"),
    ):
        for path in (ORGANISATION, "/api/v1/me", PEOPLE, member, "/api/v1/openapi.json"):
            for method in ("GET", "HEAD"):
                answer = server.request(method, f"{path}?{query}", key)
                assert answer.status_code == 422
            assert remove_known_names(check_refusal(server.request("GET", f"{path}?{query}", key), 422)) == message
        for method, path in (("PATCH", ORGANISATION), ("PATCH", member), ("POST", f"{member}/remove")):
            assert check_refusal(server.request(method, f"{path}?{query}", key, json={}), 422) == message
    # A parameter of the list is none of the record, and what belongs into a body does not count in the query.
    assert check_refusal(server.request("GET", f"{member}?limit=5", key), 422) == "limit: is not known here"
    assert check_refusal(
        server.request("POST", f"{member}/remove?confirmed=true", key, headers=JSON, content=b"{}"), 422
    )
    assert server.request("GET", member, key).json()["status"] == "active"


def test_a_path_takes_a_hyphen_for_a_slash_in_a_number(server: RunningServer, cast: Cast) -> None:
    cast.perform(update_settings, jobNumbers={"prefix": "26/"})
    job, quote, key = make_job(cast, make_customer(cast)), issue_quote(cast, deliver="none"), cast.make_key()
    assert job["number"] == "26/0001"
    assert server.request("GET", "/api/v1/jobs/26-0001", key).json()["id"] == job["id"]
    cast.perform(revise_quote, quoteId=quote["id"])
    path = f"/api/v1/quotes/{quote['number']}"
    assert server.request("GET", f"{path}-1", key).json()["id"] == quote["id"]
    check_refusal(server.request("GET", f"{path}/1", key), 404)


@pytest.mark.parametrize("word", ["1", "True", "yes", "on", ""])
def test_what_is_true_or_false_is_asked_in_these_words_alone(server: RunningServer, cast: Cast, word: str) -> None:
    key = cast.make_key()
    for plain in ("true", "false"):
        assert server.request("GET", f"/api/v1/visits?unassigned={plain}", key).status_code == 200
    message = check_refusal(server.request("GET", f"/api/v1/visits?unassigned={word}", key), 422)
    assert message == "unassigned: is not true or false"


@pytest.mark.parametrize(
    ("path", "status"),
    [("visits?jobId=", 404), ("free-time?durationMinutes=60&jobId=", 404), ("events?type=", 422)],
)
def test_an_empty_word_narrows_to_nothing_that_there_is(
    server: RunningServer, cast: Cast, path: str, status: int
) -> None:
    check_refusal(server.request("GET", f"/api/v1/{path}", cast.make_key()), status)
