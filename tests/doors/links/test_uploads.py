"""An upload address takes one file for one record, once, with the rights that its program has when the file arrives."""

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from mainstay.business.people.roles import change_role, remove_person
from mainstay.business.records.attachments import MAX_FILE_BYTES, list_documents
from mainstay.business.records.history import get_history
from mainstay.business.records.undo import undo_change
from mainstay.doors.links.link_access import REQUESTS_FROM_NETWORK
from mainstay.identity.keys import revoke_key
from mainstay.identity.upload_addresses import LIFETIME, MAX_OPEN_ADDRESSES, delete_old
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.log import log
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Access, Role
from support.agent_files import NO_ADDRESS_BODY, list_files, path_of, request_upload, send_file
from support.attachments import PDF, make_attachment_jobs
from support.cast import Cast
from support.customers import make_customer
from support.images import draw_image
from support.in_process import run_in_process
from support.mcp_client import call_tool
from support.oauth_app import register_app, sign_in_cast_member
from support.servers import RunningServer
from support.stored_state import actor_with_key, read_all_rows
from support.uploads import list_temporary_files

pytestmark = pytest.mark.engines("sqlite", "postgresql")


@pytest.fixture
def key(cast: Cast) -> str:
    return cast.make_key()


@pytest.fixture
def job(cast: Cast) -> str:
    return make_attachment_jobs(cast).job


def count_files(cast: Cast, job: str) -> int:
    return len(cast.perform(list_documents, recordId=job)["data"])


def refuse_tool(server: RunningServer, key: str, tool: str, **given: Any) -> str:
    """Call a tool that is refused, and return why."""
    answer = call_tool(server, key, tool, **given)
    assert answer["isError"] is True
    return str(answer["content"][0]["text"])


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_file_becomes_one_of_the_record(server: RunningServer, key: str, job: str, method: str) -> None:
    path = request_upload(server, key, job, visibility="office")
    answer = send_file(server, path, method=method)
    assert answer.status_code == 201, answer.text
    document = answer.json()
    assert (document["object"], document["recordId"], document["name"]) == ("document", job, "Plan.pdf")
    assert (document["mediaType"], document["visibility"]) == ("application/pdf", "office")
    assert document["sha256"] == hashlib.sha256(PDF).hexdigest()
    by = document["createdBy"]
    assert (by["person"]["name"], by["via"]["door"]) == ("Olivia Owner", "agent")
    assert by["via"]["client"]["name"] == "owner write"
    assert [file["id"] for file in list_files(server, key, job)] == [document["id"]]
    assert list_temporary_files(server) == []


def test_it_is_undone_like_any_file(server: RunningServer, cast: Cast, key: str, job: str) -> None:
    send_file(server, request_upload(server, key, job))
    added = cast.perform(get_history, recordId=job)["data"][0]
    assert (added["operation"], added["by"]["via"]["door"]) == ("add_document", "agent")
    cast.perform(undo_change, cast.actor(Role.OFFICE, door=Door.OFFICE), changeIds=[added["id"]])
    assert count_files(cast, job) == 0


def test_a_photo_is_redrawn(server: RunningServer, key: str, job: str) -> None:
    photo = draw_image() + b"<script>alert(1)</script>"
    document = send_file(server, request_upload(server, key, job, name="Meter.png"), photo).json()
    assert (document["kind"], document["mediaType"]) == ("photo", "image/png")
    assert document["thumbnail"]
    assert document["sha256"] != hashlib.sha256(photo).hexdigest()


def test_the_answer_of_the_tool_says_how(server: RunningServer, key: str, job: str) -> None:
    shown = call_tool(server, key, "request_upload", recordId=job, name="Plan.pdf")["structuredContent"]
    assert shown["url"].startswith(f"{server.url}/uploads/svc_ul_")
    assert (shown["maxBytes"], shown["recordId"], shown["name"]) == (15_000_000, job, "Plan.pdf")
    assert shown["expiresAt"].endswith(("+00:00", "+01:00"))


def test_only_a_hash_is_stored(server: RunningServer, cast: Cast, key: str, job: str) -> None:
    path = request_upload(server, key, job, idempotencyKey="one")
    # A repeat gets the same address.
    assert request_upload(server, key, job, idempotencyKey="one") == path
    secret = path.rpartition("/")[2]
    rows = str(read_all_rows(cast.performer.database))
    assert secret not in rows
    assert secret.removeprefix("svc_ul_") not in rows
    assert hashlib.sha256(secret.encode()).hexdigest() in rows


def test_it_works_once(server: RunningServer, cast: Cast, key: str, job: str) -> None:
    path = request_upload(server, key, job)
    assert send_file(server, path).status_code == 201
    again = send_file(server, path)
    unknown = send_file(server, "/uploads/svc_ul_" + "A" * 43)
    assert again.status_code == unknown.status_code == 404
    assert again.content == unknown.content
    assert again.json() == NO_ADDRESS_BODY
    assert count_files(cast, job) == 1


def test_of_fifty_clients_one_succeeds(server: RunningServer, cast: Cast, key: str, job: str) -> None:
    path = request_upload(server, key, job)
    with ThreadPoolExecutor(50) as threads:
        answers = list(threads.map(lambda _: send_file(server, path), range(50)))
    assert sorted(answer.status_code for answer in answers) == [201, *[404] * 49]
    assert {answer.content for answer in answers if answer.status_code == 404} == {
        send_file(server, "/uploads/nonsense").content
    }
    assert count_files(cast, job) == 1


@pytest.mark.parametrize("path", ["/uploads", "/uploads/", "/uploads/x/y", "/uploads/svc_sk_" + "A" * 43])
def test_what_is_no_address_is_not_found(server: RunningServer, path: str) -> None:
    answer = send_file(server, path)
    assert (answer.status_code, answer.json()) == (404, NO_ADDRESS_BODY)


def test_a_secret_counts_only_in_the_path(server: RunningServer, key: str, job: str) -> None:
    secret = request_upload(server, key, job).rpartition("/")[2]
    assert send_file(server, f"/uploads/?token={secret}").status_code == 404
    assert send_file(server, "/uploads/x", Authorization=f"Bearer {secret}").status_code == 404
    assert send_file(server, "/uploads/x", Authorization=f"Bearer {key}").status_code == 404
    # Nor does it open anything else.
    for path in ("/api/v1/organisation", "/mcp"):
        assert server.request("POST", path, secret, json={}).status_code == 401


def test_it_expires(cast: Cast, key: str, job: str, server: RunningServer) -> None:
    path = request_upload(server, key, job)
    later = cast.performer.clock() + LIFETIME + timedelta(seconds=1)
    with run_in_process(server.settings, lambda: later) as late_server:
        answer = send_file(late_server, path)
    assert (answer.status_code, answer.json()) == (404, NO_ADDRESS_BODY)
    assert count_files(cast, job) == 0
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        delete_old(db, later)
    assert send_file(server, path).status_code == 404


def test_it_is_for_its_own_organisation_s_records(
    server: RunningServer, cast: Cast, other_cast: Cast, job: str
) -> None:
    text = refuse_tool(server, other_cast.make_key(), "request_upload", recordId=job, name="Plan.pdf")
    assert text.startswith("There is no record")
    path = request_upload(server, other_cast.make_key(), make_attachment_jobs(other_cast).job)
    assert send_file(server, path, X_Organisation_Id=cast.organisation).status_code == 201
    assert count_files(cast, job) == 0


def test_a_revoked_key_has_no_addresses(server: RunningServer, cast: Cast, key: str, job: str) -> None:
    path = request_upload(server, key, job)
    cast.perform(revoke_key, keyId=actor_with_key(cast, key).credential)
    answer = send_file(server, path)
    assert (answer.status_code, answer.json()) == (404, NO_ADDRESS_BODY)
    assert count_files(cast, job) == 0


def test_the_rights_of_now_count(server: RunningServer, cast: Cast, job: str) -> None:
    session = sign_in_cast_member(server, cast, Role.OFFICE)
    token = str(register_app(server).connect(session, cast.organisation, "write")["access_token"])
    path = request_upload(server, token, job)
    # A member's app may only read.
    cast.perform(change_role, personId=cast.people[Role.OFFICE], role="member", confirmed=True)
    answer = send_file(server, path)
    assert answer.status_code == 403
    assert "read only" in answer.json()["error"]
    # A refusal because of rights uses nothing up.
    cast.perform(change_role, personId=cast.people[Role.OFFICE], role="office", confirmed=True)
    assert send_file(server, path).status_code == 201
    path = request_upload(server, token, job)
    cast.perform(remove_person, personId=cast.people[Role.OFFICE], confirmed=True)
    assert send_file(server, path).status_code == 404


def test_none_is_given_for_a_read_only_key_or_while_lapsed(
    server: RunningServer, cast: Cast, key: str, job: str
) -> None:
    given = {"recordId": job, "name": "Plan.pdf"}
    assert "read only" in refuse_tool(server, cast.make_key(Access.READ), "request_upload", **given)
    path = request_upload(server, key, job)
    cast.lapse()
    assert "subscription" in refuse_tool(server, key, "request_upload", **given)
    answer = send_file(server, path)
    assert answer.status_code == 402
    assert "subscription" in answer.json()["error"]
    assert count_files(cast, job) == 0


def test_a_record_that_takes_no_files_is_said_at_once(server: RunningServer, key: str, job: str) -> None:
    document = send_file(server, request_upload(server, key, job)).json()["id"]
    text = refuse_tool(server, key, "request_upload", recordId=document, name="Plan.pdf")
    assert text.startswith("You can't add files to this kind of record.")


def test_so_many_addresses_wait_at_once(server: RunningServer, cast: Cast, key: str, job: str) -> None:
    for _ in range(MAX_OPEN_ADDRESSES):
        path = request_upload(server, key, job)
    text = refuse_tool(server, key, "request_upload", recordId=job, name="Plan.pdf")
    assert text.startswith("50 upload addresses are waiting for their files.")
    assert send_file(server, path).status_code == 201
    request_upload(server, key, job)
    # Another program has addresses of its own.
    request_upload(server, cast.make_key(), job)


@pytest.mark.parametrize(
    ("name", "media_type", "content", "text"),
    [
        ("Photo.jpg", None, b"MZ\x90 a program", "Photo.jpg ends in .jpg but is not that kind of picture"),
        ("Plan.pdf", None, b"%PDF-1.7 half", "Plan.pdf is an incomplete PDF"),
        ("Plan.pdf", None, b"\x00\x01\x02", "Plan.pdf is not an accepted type of file"),
        ("Plan.pdf", "application/pdf", b"only text", "Plan.pdf is text/plain, but application/pdf was announced"),
    ],
)
def test_content_is_checked_whatever_it_says_of_itself(
    server: RunningServer,
    cast: Cast,
    key: str,
    job: str,
    name: str,
    media_type: str | None,
    content: bytes,
    text: str,
) -> None:
    given = {"mediaType": media_type} if media_type else {}
    path = request_upload(server, key, job, name=name, **given)
    answer = send_file(server, path, content, Content_Type="application/pdf")
    assert answer.status_code == 415
    assert answer.json()["error"].startswith(text)
    assert count_files(cast, job) == 0
    assert list_temporary_files(server) == []
    # It was an attempt.
    assert send_file(server, path).status_code == 404


@pytest.mark.parametrize("content_type", ["application/json", "application/x-www-form-urlencoded", "text/html", ""])
def test_the_header_s_type_does_not_matter(server: RunningServer, key: str, job: str, content_type: str) -> None:
    document = send_file(server, request_upload(server, key, job), Content_Type=content_type)
    assert document.json()["mediaType"] == "application/pdf"


def test_what_can_be_no_file_is_refused_before_the_address_is_used(server: RunningServer, key: str, job: str) -> None:
    path = request_upload(server, key, job)
    form = server.request("POST", path, files={"file": ("Plan.pdf", PDF)})
    assert (form.status_code, "not a form" in form.json()["error"]) == (415, True)
    packed = send_file(server, path, Content_Encoding="gzip")
    assert packed.status_code == 415
    assert send_file(server, path, b"").status_code == 400
    huge = send_file(server, path, bytes(MAX_FILE_BYTES + 1))
    assert (huge.status_code, huge.json()["error"]) == (413, "The file is larger than 15 MB.")
    for method in ("GET", "DELETE", "PATCH"):
        answer = server.request(method, path)
        assert (answer.status_code, answer.headers["Allow"]) == (405, "PUT, POST")
    assert send_file(server, path).status_code == 201


def test_a_file_of_the_largest_size_is_taken_and_a_larger_one_in_pieces_is_not(
    server: RunningServer, cast: Cast, key: str, job: str
) -> None:
    largest = PDF.replace(b"%%EOF", b"%" * (MAX_FILE_BYTES - len(PDF)) + b"\n%%EOF")[:MAX_FILE_BYTES]
    largest = largest[:-6] + b"%%EOF\n"
    assert len(largest) == MAX_FILE_BYTES
    assert send_file(server, request_upload(server, key, job), largest).status_code == 201

    def stream() -> Iterator[bytes]:
        for _ in range(16):
            yield bytes(1_000_000)

    answer = server.request("PUT", request_upload(server, key, job), content=stream())
    assert answer.status_code == 413
    assert answer.json()["error"] == (
        "The file is larger than 15 MB. This address is used now: ask for a new one with request_upload."
    )
    assert count_files(cast, job) == 1
    assert list_temporary_files(server) == []


def test_a_file_beyond_the_quota_is_refused_and_leaves_nothing(
    server: RunningServer, cast: Cast, key: str, job: str
) -> None:
    path = request_upload(server, key, job)
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run(
            "UPDATE organisation SET storage_bytes = :size WHERE id = :organisation", size=cast.performer.storage_limit
        )
    answer = send_file(server, path)
    assert answer.status_code == 409
    assert answer.json()["error"].startswith("Not enough storage")
    assert count_files(cast, job) == 0


def test_guesses_are_limited(server: RunningServer) -> None:
    # A server of its own, whose requests nobody else counts.
    with run_in_process(server.settings) as own_server:
        answers = [
            send_file(own_server, f"/uploads/svc_ul_{number:043}", b"x") for number in range(REQUESTS_FROM_NETWORK + 1)
        ]
    assert {answer.status_code for answer in answers[:-1]} == {404}
    assert (answers[-1].status_code, answers[-1].headers["Retry-After"]) == (429, "60")


def test_every_answer_keeps_the_address_secret(
    server: RunningServer, key: str, job: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = request_upload(server, key, job)
    for answer in (send_file(server, path), send_file(server, path)):
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
    log("request", path=path)
    logged = capfd.readouterr().err
    assert path.removeprefix("/uploads/svc_ul_") not in logged
    assert "/uploads/svc_ul_[hidden]" in logged


def test_a_customer_s_file_is_a_file_of_the_customer(server: RunningServer, cast: Cast, key: str) -> None:
    customer = make_customer(cast)
    shown = call_tool(server, key, "request_upload", recordId=customer, name="../..\\etc/Plan.pdf")
    document = send_file(server, path_of(shown["structuredContent"]["url"])).json()
    assert (document["recordId"], document["name"]) == (customer, "Plan.pdf")
