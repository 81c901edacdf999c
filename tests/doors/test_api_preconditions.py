"""Versions and replays: ETag with If-Match, and Idempotency-Key."""

from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from mainstay.business.hours.operations import log_hours
from mainstay.business.hours.timers import start_timer
from mainstay.vocabulary.permissions import Access, Role
from support.cast import Cast
from support.raw_http import NEW_PERSON, ORGANISATION, PEOPLE, check_refusal
from support.servers import RunningServer

# Of this door, the smoke set on both engines.
pytestmark = pytest.mark.engines("sqlite", "postgresql")


def test_a_record_carries_its_version_as_etag(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    path = f"{PEOPLE}/{cast.people[Role.MEMBER]}"

    for number in range(1, 4):
        shown = server.request("GET", path, key)
        assert shown.json()["version"] == number
        assert shown.headers["ETag"] == f'"{number}"'
        changed = server.request("PATCH", path, key, json={"phone": str(number)})
        assert changed.headers["ETag"] == f'"{number + 1}"'
    assert server.request("GET", ORGANISATION, key).headers["ETag"] == '"1"'
    assert server.request("POST", PEOPLE, key, json=NEW_PERSON).headers["ETag"] == '"1"'


def test_a_change_of_nothing_is_no_new_version(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    path = f"{PEOPLE}/{cast.people[Role.MEMBER]}"

    for body in ({}, {"name": "Mia Member"}, {"phone": None}):
        assert server.request("PATCH", path, key, json=body).headers["ETag"] == '"1"'


@pytest.mark.parametrize("match", ['"1"', "*", '"7", "1"', '"1","2"', '"nonsense", "1"'])
def test_the_version_that_is_expected_lets_a_change_pass(server: RunningServer, cast: Cast, match: str) -> None:
    for path in (ORGANISATION, f"{PEOPLE}/{cast.people[Role.MEMBER]}"):
        answer = server.request("PATCH", path, cast.make_key(), headers={"If-Match": match}, json={"phone": "1"})

        assert answer.status_code == 200


@pytest.mark.parametrize(
    "match", ['"2"', '"0"', '"01"', "1", 'W/"1"', "nonsense", '""', '"1', '"01x"', '"99999999999999999"', ""]
)
def test_another_version_stops_it(server: RunningServer, cast: Cast, match: str) -> None:
    key = cast.make_key()
    member = f"{PEOPLE}/{cast.people[Role.MEMBER]}"

    for method, path, body in (
        ("PATCH", ORGANISATION, {"phone": "1"}),
        ("PATCH", member, {"phone": "1"}),
        ("POST", f"{member}/remove", {"confirmed": True}),
    ):
        answer = server.request(method, path, key, headers={"If-Match": match}, json=body)
        assert check_refusal(answer, 412).startswith("The record has changed since it was read.")
    assert server.request("GET", member, key).json()["version"] == 1
    assert server.request("GET", ORGANISATION, key).json()["version"] == 1


def test_of_many_changes_of_one_version_one_wins(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    path = f"{PEOPLE}/{cast.people[Role.MEMBER]}"

    def change(number: int) -> int:
        headers = {"If-Match": '"1"'}
        return server.request("PATCH", path, key, headers=headers, json={"phone": f"+{number}"}).status_code

    with ThreadPoolExecutor(16) as clients:
        statuses = sorted(clients.map(change, range(16)))

    assert statuses == [200] + [412] * 15
    assert server.request("GET", path, key).json()["version"] == 2


def post_with_key(
    server: RunningServer, key: str, idempotency: str, body: object, path: str = PEOPLE
) -> httpx2.Response:
    return server.request("POST", path, key, headers={"Idempotency-Key": idempotency}, json=body)


def test_a_repeated_write_gets_the_first_answer_again(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()

    first = post_with_key(server, key, "once", NEW_PERSON)
    server.request("PATCH", f"{PEOPLE}/{first.json()['id']}", key, json={"phone": "changed since"})
    second = post_with_key(server, key, "once", NEW_PERSON)

    assert (first.status_code, second.status_code) == (201, 201)
    assert first.content == second.content
    assert first.headers["ETag"] == second.headers["ETag"] == '"1"'
    assert "Idempotent-Replayed" not in first.headers
    assert second.headers["Idempotent-Replayed"] == "true"
    assert len(server.request("GET", PEOPLE, key).json()["data"]) == 6


def test_many_repeats_at_once_do_it_once(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()

    with ThreadPoolExecutor(16) as clients:
        answers = list(clients.map(lambda _: post_with_key(server, key, "at once", NEW_PERSON), range(16)))

    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert sum("Idempotent-Replayed" not in answer.headers for answer in answers) == 1
    assert len(server.request("GET", PEOPLE, key).json()["data"]) == 6


def test_the_same_words_in_another_order_are_the_same_request(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    post_with_key(server, key, "order", NEW_PERSON)

    again = post_with_key(server, key, "order", dict(reversed(NEW_PERSON.items())))

    assert again.headers["Idempotent-Replayed"] == "true"


def test_the_same_key_for_another_body_or_operation_is_refused(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    made = post_with_key(server, key, "taken", NEW_PERSON)
    headers = {"Idempotency-Key": "taken"}

    other_body = post_with_key(server, key, "taken", {**NEW_PERSON, "phone": "1"})
    other_operation = server.request("PATCH", ORGANISATION, key, headers=headers, json={"name": "Other"})
    remove = f"{PEOPLE}/{made.json()['id']}/remove"
    other_path = post_with_key(server, key, "taken", {"confirmed": True}, remove)

    for answer in (other_body, other_operation, other_path):
        assert check_refusal(answer, 422) == "Idempotency-Key: was already used for a different request"
    assert len(server.request("GET", PEOPLE, key).json()["data"]) == 6


def test_an_idempotency_key_belongs_to_one_credential(server: RunningServer, cast: Cast, other_cast: Cast) -> None:
    for number, key in enumerate([cast.make_key(), cast.make_key(role=Role.ADMIN), other_cast.make_key()]):
        answer = post_with_key(server, key, "mine", {**NEW_PERSON, "email": f"n{number}@new.example"})

        assert answer.status_code == 201
        assert "Idempotent-Replayed" not in answer.headers


def test_a_refused_write_leaves_its_key_unused(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    check_refusal(post_with_key(server, key, "later", {"name": "Nora"}), 422)
    check_refusal(post_with_key(server, key, "later", {**NEW_PERSON, "email": "mia@cast.example"}), 409)

    answer = post_with_key(server, key, "later", NEW_PERSON)

    assert answer.status_code == 201
    assert "Idempotent-Replayed" not in answer.headers


def test_a_replay_needs_every_right_that_the_write_needed(server: RunningServer, cast: Cast) -> None:
    key, reading = cast.make_key(), cast.make_key(Access.READ)
    post_with_key(server, key, "rights", NEW_PERSON)

    check_refusal(post_with_key(server, reading, "rights", NEW_PERSON), 403)
    cast.lapse()
    check_refusal(post_with_key(server, key, "rights", NEW_PERSON), 402)


def test_a_confirmed_act_is_replayed_and_a_preview_is_none(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    path = f"{PEOPLE}/{cast.people[Role.MEMBER]}/remove"

    preview = post_with_key(server, key, "remove", {}, path)
    done = post_with_key(server, key, "remove", {"confirmed": True}, path)
    again = post_with_key(server, key, "remove", {"confirmed": True}, path)

    assert preview.json()["object"] == "preview"
    assert done.json()["status"] == "left"
    assert again.content == done.content
    assert again.headers["Idempotent-Replayed"] == "true"


@pytest.mark.engines("sqlite")
def test_hours_that_were_changed_meanwhile_are_neither_submitted_approved_nor_stopped(
    server: RunningServer, cast: Cast
) -> None:
    key, other = cast.make_key(), {"If-Match": '"99"'}
    entry = cast.perform(log_hours, minutes=60, on="2026-11-16")
    running = cast.perform(start_timer)
    for path, named in (
        ("submit", {"timeEntryIds": [entry["id"]]}),
        ("review", {"timeEntryIds": [entry["id"]], "decision": "approve"}),
        ("stop", {"timeEntryId": running["id"]}),
    ):
        check_refusal(server.request("POST", f"/api/v1/hours/{path}", key, headers=other, json=named), 412)
    seen = {"If-Match": f'"{entry["version"]}"'}
    body: dict[str, object] = {"timeEntryIds": [entry["id"]]}
    assert server.request("POST", "/api/v1/hours/submit", key, headers=seen, json=body).status_code == 200
    body |= {"from": "2026-11-16", "until": "2026-11-16"}
    message = check_refusal(server.request("POST", "/api/v1/hours/submit", key, json=body), 422)
    assert message.startswith("from: can't be combined with timeEntryIds")
