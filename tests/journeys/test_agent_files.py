"""An app brings a photo to a job and takes a document with it; the office sees by whom, and takes it back."""

import httpx2
import pytest

from mainstay.vocabulary.permissions import Role
from support.agent_files import list_files
from support.attachments import make_attachment_jobs
from support.browser_session import sign_in_new_person, visible_text
from support.cast import Cast
from support.images import draw_image
from support.mcp_client import call_tool
from support.oauth_app import register_app, sign_in_cast_member
from support.servers import RunningServer

pytestmark = pytest.mark.engines("sqlite", "postgresql")


def test_an_app_uploads_a_photo_and_downloads_it(server: RunningServer, cast: Cast) -> None:
    job = make_attachment_jobs(cast).job
    session = sign_in_cast_member(server, cast, Role.OFFICE)
    token = str(register_app(server).connect(session, cast.organisation, "write")["access_token"])

    asked = call_tool(server, token, "request_upload", recordId=job, name="Meter.jpg", mediaType="image/png")
    # As curl -T does it: no key, no content type, only the address.
    sent = httpx2.put(asked["structuredContent"]["url"], content=draw_image())
    assert sent.status_code == 201, sent.text
    assert sent.json()["name"] == "Meter.png"

    [listed] = list_files(server, token, job)
    assert (listed["name"], listed["createdBy"]["person"]["name"]) == ("Meter.png", "Orla Office")
    assert listed["createdBy"]["via"]["client"]["name"] == "Test app"
    linked = call_tool(server, token, "get_download_link", recordId=listed["id"])["structuredContent"]
    photo = httpx2.get(linked["url"])
    assert (photo.status_code, photo.headers["Content-Type"]) == (200, "image/png")
    assert photo.content.startswith(b"\x89PNG")

    office = sign_in_new_person(server, cast, Role.OFFICE)
    page = office.get(f"/jobs/{job}").text
    assert f"/documents/{listed['id']}" in page
    assert "Test app" in visible_text(page)
    [added, *_] = call_tool(server, token, "get_history", recordId=job)["structuredContent"]["data"]
    assert (added["operation"], added["undoable"]) == ("add_document", True)
