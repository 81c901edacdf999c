"""A download link opens one file for a few minutes, as long as the person who asked for it may see the file."""

from datetime import datetime, timedelta
from functools import partial

import pytest

from mainstay.business.people.roles import change_role
from mainstay.business.records.attachments import remove_document
from mainstay.business.records.file_links import LINK_LIFETIME
from mainstay.doors.links.downloads import NO_LINK
from mainstay.identity.connections import list_connections, revoke_connection
from mainstay.identity.keys import revoke_key
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Access, Role
from support.agent_files import list_files, request_download, request_upload, send_file
from support.attachments import PDF, make_attachment_jobs
from support.cast import Cast
from support.in_process import run_in_process
from support.invoices import issue_invoice, make_invoice
from support.mcp_client import call_tool
from support.oauth_app import register_app, sign_in_cast_member
from support.servers import RunningServer
from support.stored_state import actor_with_key

pytestmark = pytest.mark.engines("sqlite", "postgresql")


@pytest.fixture
def key(cast: Cast) -> str:
    return cast.make_key()


@pytest.fixture
def document(server: RunningServer, cast: Cast, key: str) -> str:
    """A file of a job on which the member works."""
    job = make_attachment_jobs(cast).job
    return str(send_file(server, request_upload(server, key, job)).json()["id"])


def test_it_opens_the_file(server: RunningServer, cast: Cast, document: str) -> None:
    path = request_download(server, cast.make_key(Access.READ), document)
    assert path.startswith("/downloads/svc_dl_")
    for method, content in (("GET", PDF), ("HEAD", b"")):
        answer = server.request(method, path)
        assert (answer.status_code, answer.content) == (200, content)
        assert answer.headers["Content-Type"] == "application/pdf"
        assert answer.headers["Content-Length"] == str(len(PDF))
        assert answer.headers["Content-Disposition"].startswith('attachment; filename="Plan.pdf"')
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert "sandbox" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Cache-Control"] == "no-store"


def test_the_answer_of_the_tool_names_the_file(server: RunningServer, key: str, document: str) -> None:
    link = call_tool(server, key, "get_download_link", recordId=document)["structuredContent"]
    assert (link["recordId"], link["name"]) == (document, "Plan.pdf")
    assert link["url"].startswith(f"{server.url}/downloads/svc_dl_")
    assert link["expiresAt"].endswith(("+00:00", "+01:00"))


def test_it_works_while_lapsed(server: RunningServer, cast: Cast, key: str, document: str) -> None:
    cast.lapse()
    assert server.request("GET", request_download(server, key, document)).content == PDF


def test_the_pdf_of_a_sent_document_is_downloaded_too(server: RunningServer, cast: Cast, key: str) -> None:
    draft = make_invoice(cast)
    refused = call_tool(server, key, "get_download_link", recordId=draft["id"])
    assert refused["isError"] is True
    assert "has not been sent, so it has no file yet" in refused["content"][0]["text"]
    invoice = issue_invoice(cast, draft)
    answer = server.request("GET", request_download(server, key, invoice["number"]))
    assert answer.status_code == 200
    assert answer.content.startswith(b"%PDF")
    assert answer.headers["Content-Disposition"].startswith("attachment;")


def test_what_has_no_file_is_said(server: RunningServer, cast: Cast, key: str) -> None:
    job = make_attachment_jobs(cast).job
    refused = call_tool(server, key, "get_download_link", recordId=job)
    assert refused["content"][0]["text"].startswith("This kind of record has no file of its own. list_documents lists")


def clock_at(moment: datetime) -> datetime:
    return moment


def test_it_expires(server: RunningServer, cast: Cast, key: str, document: str) -> None:
    path = request_download(server, key, document)
    now = cast.performer.clock()
    for seconds, status in ((-30, 200), (1, 404)):
        later = now + LINK_LIFETIME + timedelta(seconds=seconds)
        with run_in_process(server.settings, partial(clock_at, later)) as late_server:
            assert late_server.request("GET", path).status_code == status


def test_revocation_ends_it(server: RunningServer, cast: Cast, key: str, document: str) -> None:
    path = request_download(server, key, document)
    cast.perform(revoke_key, keyId=actor_with_key(cast, key).credential)
    answer = server.request("GET", path)
    assert (answer.status_code, answer.json()) == (404, {"error": NO_LINK})
    assert answer.content == server.request("GET", "/downloads/svc_dl_nonsense").content


def test_the_rights_of_now_count(server: RunningServer, cast: Cast, document: str) -> None:
    session = sign_in_cast_member(server, cast, Role.OFFICE)
    token = str(register_app(server).connect(session, cast.organisation)["access_token"])
    path = request_download(server, token, document)
    invoice = issue_invoice(cast)
    pdf_path = request_download(server, token, invoice["id"])
    cast.perform(change_role, personId=cast.people[Role.OFFICE], role="member", confirmed=True)
    # A member sees the files of their own jobs only, and no invoices.
    assert server.request("GET", path).status_code == 404
    assert server.request("GET", pdf_path).status_code == 403
    cast.perform(change_role, personId=cast.people[Role.OFFICE], role="office", confirmed=True)
    assert server.request("GET", path).content == PDF
    [connection] = cast.perform(list_connections)["data"]
    cast.perform(revoke_connection, connectionId=connection["id"])
    assert server.request("GET", path).status_code == 404


def test_a_file_that_was_removed_is_not_found(server: RunningServer, cast: Cast, key: str, document: str) -> None:
    path = request_download(server, key, document)
    cast.perform(remove_document, cast.actor(Role.OFFICE, door=Door.OFFICE), documentId=document, confirmed=True)
    answer = server.request("GET", path)
    assert (answer.status_code, answer.json()) == (404, {"error": NO_LINK})


def test_another_organisation_has_no_link_to_it(server: RunningServer, other_cast: Cast, document: str) -> None:
    refused = call_tool(server, other_cast.make_key(), "get_download_link", recordId=document)
    assert refused["isError"] is True


@pytest.mark.parametrize("change", ["last", "first", "prefix", "longer", "empty"])
def test_a_link_that_was_changed_opens_nothing(server: RunningServer, key: str, document: str, change: str) -> None:
    path = request_download(server, key, document)
    secret = path.rpartition("/")[2]
    body = secret.removeprefix("svc_dl_")
    swap = {"A": "B"}
    wrong = {
        "last": secret[:-1] + swap.get(secret[-1], "A"),
        "first": "svc_dl_" + swap.get(body[0], "A") + body[1:],
        "prefix": "svc_ul_" + body,
        "longer": f"{secret}=",
        "empty": "",
    }[change]
    answer = server.request("GET", f"/downloads/{wrong}")
    assert (answer.status_code, answer.json()) == (404, {"error": NO_LINK})


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_it_is_only_read(server: RunningServer, key: str, document: str, method: str) -> None:
    answer = server.request(method, request_download(server, key, document), content=b"x")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD")


def test_an_upload_address_opens_no_download(server: RunningServer, cast: Cast, key: str) -> None:
    path = request_upload(server, key, make_attachment_jobs(cast).job)
    assert server.request("GET", path.replace("/uploads/", "/downloads/")).status_code == 404
    assert server.request("GET", path).status_code == 405
    assert list_files(server, key, make_attachment_jobs(cast).job) == []
