"""Every door takes the token of a preview, and shows the new preview if it would differ."""

from mainstay.business.people.operations import get_person
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_new_person, visible_text
from support.cast import Cast
from support.mcp_client import call_tool
from support.raw_http import PEOPLE
from support.servers import RunningServer

REFUSAL = "Something has changed since the preview, so nothing was done. Check it again."


def test_the_api_answers_409_with_the_new_preview(server: RunningServer, cast: Cast) -> None:
    key, path = cast.make_key(), f"{PEOPLE}/{cast.people[Role.ADMIN]}/remove"
    shown = server.request("POST", path, key, json={}).json()
    cast.make_key(role=Role.ADMIN)
    body = {"confirmed": True, "previewToken": shown["previewToken"]}
    refused = server.request("POST", path, key, json=body)
    assert refused.status_code == 409
    assert refused.json().keys() == {"error", "preview"}
    assert refused.json()["error"] == REFUSAL
    preview = refused.json()["preview"]
    assert preview["effects"] != shown["effects"]
    assert cast.perform(get_person, personId=cast.people[Role.ADMIN])["status"] == "active"
    done = server.request("POST", path, key, json=body | {"previewToken": preview["previewToken"]})
    assert (done.status_code, done.json()["status"]) == (200, "left")


def test_a_tool_answers_with_the_new_preview(server: RunningServer, cast: Cast) -> None:
    key, given = cast.make_key(), dict[str, object](personId=cast.people[Role.ADMIN])
    shown = call_tool(server, key, "remove_person", **given)["structuredContent"]["preview"]
    cast.make_key(role=Role.ADMIN)
    given |= {"confirmed": True, "previewToken": shown["previewToken"]}
    refused = call_tool(server, key, "remove_person", **given)
    assert refused["isError"] is True
    assert refused["structuredContent"]["status"] == "preview"
    first, text, _ = (part["text"] for part in refused["content"])
    assert first == REFUSAL
    assert text.startswith("Nothing has happened yet.")
    preview = refused["structuredContent"]["preview"]
    done = call_tool(server, key, "remove_person", **given | {"previewToken": preview["previewToken"]})
    assert done["structuredContent"]["status"] == "done"


def test_what_is_no_text_is_refused(server: RunningServer, cast: Cast) -> None:
    path = f"{PEOPLE}/{cast.people[Role.ADMIN]}/remove"
    answer = server.request("POST", path, cast.make_key(), json={"confirmed": True, "previewToken": 1})
    assert (answer.status_code, answer.json()["error"]) == (422, "previewToken: is not text")


def test_the_office_shows_the_new_preview(server: RunningServer, cast: Cast) -> None:
    session, path = sign_in_new_person(server, cast), f"/people/{cast.people[Role.ADMIN]}/remove"
    page = session.get(path).text
    cast.make_key(role=Role.ADMIN)
    refused = session.submit_page(page, path, confirmed="yes")
    assert refused.status_code == 409
    text = visible_text(refused.text)
    assert REFUSAL in text
    assert "API keys created by Adam Admin" in text
    assert cast.perform(get_person, personId=cast.people[Role.ADMIN])["status"] == "active"
    done = session.submit_page(refused.text, path, confirmed="yes")
    assert done.headers["Location"] == f"/people/{cast.people[Role.ADMIN]}?done=remove_person"
