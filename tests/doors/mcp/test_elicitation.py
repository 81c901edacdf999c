"""A client that shows forms is asked to show the preview to its person; all others get what they always got."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import orjson
import pytest

from mainstay.business.customers.operations import create_customer
from mainstay.business.jobs.operations import create_job, get_job
from mainstay.business.people.operations import get_person
from mainstay.business.people.roles import remove_person
from mainstay.doors.mcp.elicitation import Elicitation, InvalidState, ToolCall
from mainstay.doors.mcp.protocol import Call
from mainstay.identity.encryption import Encryptor
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.mcp_client import call_tool, make_legacy_call, make_modern_call, make_modern_headers, post_call
from support.servers import RunningServer
from support.stored_state import actor_with_key

CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
FORMS: dict[str, Any] = {"elicitation": {"form": {}}}
TOOL = "remove_person"
ACCEPT = {"action": "accept", "content": {"confirmed": True}}
INVALID_PARAMS = -32602
Answer = dict[str, Any]


def post_tool(
    server: RunningServer,
    token: str,
    arguments: Answer,
    capabilities: Any = FORMS,
    tool: str = TOOL,
    **params: Any,
) -> Answer:
    """Call a tool of the modern protocol, and return the whole answer."""
    call = make_modern_call("tools/call", {"name": tool, "arguments": arguments, **params})
    call["params"]["_meta"][CAPABILITIES] = capabilities
    answer: Answer = post_call(server, token, call, make_modern_headers(call)).json()
    return answer


def ask(server: RunningServer, token: str, arguments: Answer) -> Answer:
    """Call a tool, and return the question that it asks."""
    question: Answer = post_tool(server, token, arguments)["result"]
    assert question["resultType"] == "input_required"
    return question


def reply(server: RunningServer, token: str, arguments: Answer, question: Answer, action: Any = ACCEPT) -> Answer:
    """Reply to a question, and return the whole answer."""
    responses = {"confirm": action}
    return post_tool(server, token, arguments, inputResponses=responses, requestState=question["requestState"])


def is_active(cast: Cast, role: Role = Role.ADMIN) -> bool:
    return bool(cast.perform(get_person, personId=cast.people[role])["status"] == "active")


@pytest.fixture
def given(cast: Cast) -> Answer:
    return {"personId": cast.people[Role.ADMIN]}


@pytest.fixture
def token(cast: Cast) -> str:
    return cast.make_key()


def test_the_preview_is_shown_in_a_form(server: RunningServer, cast: Cast, token: str, given: Answer) -> None:
    result = post_tool(server, token, given)["result"]
    assert result.keys() == {"inputRequests", "requestState", "resultType", "_meta"}
    assert result["inputRequests"].keys() == {"confirm"}
    asked = result["inputRequests"]["confirm"]
    assert (asked["method"], asked["params"]["mode"]) == ("elicitation/create", "form")
    assert asked["params"]["message"].startswith(
        "Nothing has happened yet. This is what would happen:\n"
        "Adam Admin (admin) will be removed from the organisation.\n- "
    )
    schema = asked["params"]["requestedSchema"]
    assert (schema["type"], schema["required"]) == ("object", ["confirmed"])
    assert schema["properties"]["confirmed"]["type"] == "boolean"
    assert "default" not in schema["properties"]["confirmed"]
    assert is_active(cast)


def test_accepted_it_is_done(server: RunningServer, cast: Cast, token: str, given: Answer) -> None:
    result = reply(server, token, given, ask(server, token, given))["result"]
    assert (result["resultType"], result["isError"]) == ("complete", False)
    assert result["structuredContent"]["status"] == "done"
    assert not is_active(cast)


@pytest.mark.parametrize("action", [{"action": "decline"}, {"action": "accept", "content": {"confirmed": False}}])
def test_declined_nothing_happens(server: RunningServer, cast: Cast, token: str, given: Answer, action: Answer) -> None:
    question = ask(server, token, given)
    result = reply(server, token, given, question, action)["result"]
    assert result["content"] == [{"type": "text", "text": "Declined. Nothing happened."}]
    assert (result["isError"], result["structuredContent"]) == (False, {"status": "declined"})
    # The question counts no more.
    refused = reply(server, token, given, question)["result"]
    assert refused["isError"] is True
    assert refused["content"][0]["text"].startswith("This confirmation was used before. Nothing was done.")
    assert is_active(cast)


def test_cancelled_it_is_the_ordinary_preview(server: RunningServer, cast: Cast, token: str, given: Answer) -> None:
    result = reply(server, token, given, ask(server, token, given), {"action": "cancel"})["result"]
    assert result["resultType"] == "complete"
    assert result["structuredContent"]["status"] == "preview"
    assert is_active(cast)


def test_what_cannot_be_done_is_the_ordinary_preview(server: RunningServer, cast: Cast, token: str) -> None:
    result = post_tool(server, token, {"personId": cast.people[Role.OWNER]})["result"]
    assert result["structuredContent"]["preview"]["blockers"]


def test_if_it_differs_meanwhile_the_person_is_asked_again(
    server: RunningServer, cast: Cast, token: str, given: Answer
) -> None:
    question = ask(server, token, given)
    cast.make_key(role=Role.ADMIN)
    again = reply(server, token, given, question)["result"]
    assert again["resultType"] == "input_required"
    message = again["inputRequests"]["confirm"]["params"]["message"]
    assert message.startswith("Something has changed since the preview, so nothing was done.")
    assert "API keys created by Adam Admin" in message
    assert is_active(cast)
    assert reply(server, token, given, again)["result"]["structuredContent"]["status"] == "done"


@pytest.mark.parametrize(
    "responses",
    [
        None,
        {},
        [],
        {"other": ACCEPT},
        {"confirm": 1},
        {"confirm": {"action": "accept"}},
        {"confirm": {"action": "accept", "content": {"confirmed": "true"}}},
        {"confirm": {"action": "accept", "content": {"confirmed": 1}}},
        {"confirm": {"action": "agree", "content": {"confirmed": True}}},
    ],
)
def test_an_incomplete_reply_is_asked_for_again(
    server: RunningServer, cast: Cast, token: str, given: Answer, responses: Any
) -> None:
    state = ask(server, token, given)["requestState"]
    for params in ({"requestState": state}, {}):
        again = post_tool(server, token, given, inputResponses=responses, **params)["result"]
        assert again["resultType"] == "input_required"
    assert is_active(cast)


def test_other_replies_are_ignored(server: RunningServer, token: str, given: Answer) -> None:
    state = ask(server, token, given)["requestState"]
    responses = {"confirm": ACCEPT, "other": {"action": "decline"}, "another": 1}
    result = post_tool(server, token, given, inputResponses=responses, requestState=state)["result"]
    assert result["structuredContent"]["status"] == "done"


@pytest.mark.parametrize(
    "alter",
    [
        lambda state: f"{state}-TAMPERED",
        lambda state: f"{state}=",
        lambda state: state[:-8] + "AAAAAAA=",
        lambda state: ("C" if state[0] == "B" else "B") + state[1:],
        lambda _: "",
        lambda _: "\N{EURO SIGN}",
        lambda _: 1,
    ],
)
def test_an_altered_state_is_refused(
    server: RunningServer, cast: Cast, token: str, given: Answer, alter: Callable[[str], Any]
) -> None:
    question = ask(server, token, given)
    answer = reply(server, token, given, question | {"requestState": alter(question["requestState"])})
    assert answer["error"]["code"] == INVALID_PARAMS
    assert answer["error"]["message"].startswith("requestState is not of this call, or has expired.")
    assert is_active(cast)


def test_a_state_of_another_person_key_tool_or_input_is_refused(
    server: RunningServer, cast: Cast, token: str, given: Answer
) -> None:
    question = ask(server, token, given)
    refused = [
        reply(server, cast.make_key(), given, question),
        reply(server, cast.make_key(role=Role.ADMIN), given, question),
        reply(server, token, {"personId": cast.people[Role.MEMBER]}, question),
        reply(server, token, {**given, "idempotencyKey": "one"}, question),
        reply(server, token, {**given, "confirmed": True}, question),
        post_tool(server, token, given, tool="get_person", inputResponses={}, requestState=question["requestState"]),
    ]
    assert [answer["error"]["code"] for answer in refused] == [INVALID_PARAMS] * len(refused)
    assert is_active(cast)
    assert is_active(cast, Role.MEMBER)


@pytest.mark.parametrize(("seconds", "is_valid"), [(599, True), (601, False)])
def test_a_state_expires(cast: Cast, given: Answer, seconds: int, *, is_valid: bool) -> None:
    now = cast.performer.clock()
    tool_call = ToolCall(Call(1, "tools/call", {}, is_modern=True), remove_person, cast.actor(Role.OWNER), given)
    question = Elicitation(Encryptor(b"secret"), lambda: now).build_question(tool_call, "Sure?", "shown")
    back = tool_call._replace(call=tool_call.call._replace(params={**question, "inputResponses": {"confirm": ACCEPT}}))
    later = Elicitation(Encryptor(b"secret"), lambda: now + timedelta(seconds=seconds))
    if is_valid:
        answered = later.read_question(back)
        assert answered
        assert (answered.preview_token, answered.reply) == ("shown", "accept")
    else:
        with pytest.raises(InvalidState):
            later.read_question(back)


def test_a_state_counts_once(server: RunningServer, token: str, given: Answer) -> None:
    question = ask(server, token, given)
    reply(server, token, given, question)
    again = reply(server, token, given, question)["result"]
    assert again["isError"] is True
    assert again["content"][0]["text"].startswith("This confirmation was used before. Nothing was done.")


def test_a_reply_that_is_sent_again_with_its_idempotency_key_gets_the_first_answer(
    server: RunningServer, token: str, given: Answer
) -> None:
    given |= {"idempotencyKey": "one"}
    question = ask(server, token, given)
    first, again = (reply(server, token, given, question)["result"] for _ in range(2))
    assert first["structuredContent"]["status"] == "done"
    assert again == first


def test_the_rights_are_those_of_now(server: RunningServer, cast: Cast) -> None:
    token, given = cast.make_key(role=Role.ADMIN), {"personId": cast.people[Role.MEMBER]}
    question = ask(server, token, given)
    cast.lapse()
    refused = reply(server, token, given, question)["result"]
    assert refused["isError"] is True
    assert is_active(cast, Role.MEMBER)


def test_confirmed_in_the_call_it_is_done_without_asking(server: RunningServer, token: str, given: Answer) -> None:
    done = post_tool(server, token, given | {"confirmed": True})["result"]
    assert done["structuredContent"]["status"] == "done"


@pytest.mark.parametrize("more", [{"confirmed": False}, {"dryRun": True}])
def test_whoever_asks_for_the_preview_gets_it(server: RunningServer, token: str, given: Answer, more: Answer) -> None:
    assert post_tool(server, token, given | more)["result"]["structuredContent"]["status"] == "preview"


def test_what_can_be_changed_again_is_not_asked(server: RunningServer, token: str) -> None:
    result = post_tool(server, token, {"name": "Hartley"}, tool="create_customer")["result"]
    assert result["structuredContent"]["object"] == "customer"


def make_job_with_change(cast: Cast, by: Actor | Role = Role.OFFICE) -> tuple[str, Answer]:
    """Create a job, which is undone by cancelling it; return its id and the input that undoes it."""
    customer = cast.perform(create_customer, name="Hartley")["id"]
    answer = cast.answer(create_job, by, customerId=customer, title="Boiler")
    return orjson.loads(answer.body)["id"], {"changeIds": [str(answer.undoable_change)]}


def read_status(cast: Cast, job: str) -> str:
    return str(cast.perform(get_job, jobId=job)["status"])


def test_an_undo_of_what_a_colleague_did_is_asked_for_if_it_is_irreversible(
    server: RunningServer, cast: Cast, token: str
) -> None:
    job, given = make_job_with_change(cast)
    before = read_status(cast, job)

    def reply_to(question: Answer, action: Any) -> Answer:
        params = {"inputResponses": {"confirm": action}, "requestState": question["requestState"]}
        result: Answer = post_tool(server, token, given, tool="undo_change", **params)["result"]
        return result

    question = post_tool(server, token, given, tool="undo_change")["result"]
    assert question["resultType"] == "input_required"
    assert "Boiler will be cancelled" in question["inputRequests"]["confirm"]["params"]["message"]
    # Only if it is accepted, it happens.
    assert reply_to(question, {"action": "cancel"})["structuredContent"]["status"] == "preview"
    assert reply_to(question, {"action": "agree"})["resultType"] == "input_required"
    assert reply_to(question, {"action": "decline"})["structuredContent"] == {"status": "declined"}
    assert read_status(cast, job) == before
    question = post_tool(server, token, given, tool="undo_change")["result"]
    assert reply_to(question, ACCEPT)["structuredContent"]["changeIds"] == given["changeIds"]
    assert read_status(cast, job) == "cancelled"


def test_an_undo_of_its_own_change_is_not_asked_for(server: RunningServer, cast: Cast, token: str) -> None:
    job, given = make_job_with_change(cast, actor_with_key(cast, token))
    result = post_tool(server, token, given, tool="undo_change")["result"]
    assert result["structuredContent"]["changeIds"] == given["changeIds"]
    assert read_status(cast, job) == "cancelled"


def test_a_client_that_shows_no_forms_undoes_without_asking(server: RunningServer, cast: Cast, token: str) -> None:
    job, given = make_job_with_change(cast)
    assert call_tool(server, token, "undo_change", **given)["structuredContent"]["changeIds"] == given["changeIds"]
    assert read_status(cast, job) == "cancelled"


@pytest.mark.parametrize("capabilities", [{"elicitation": {}}, {"elicitation": {"form": {}, "url": {}}}])
def test_a_client_that_names_no_mode_or_several_shows_forms(
    server: RunningServer, token: str, given: Answer, capabilities: Answer
) -> None:
    assert post_tool(server, token, given, capabilities)["result"]["resultType"] == "input_required"


@pytest.mark.parametrize(
    "capabilities",
    [{}, {"elicitation": {"url": {}}}, {"elicitation": None}, {"elicitation": True}, {"sampling": {}}, [], None],
)
def test_a_client_that_shows_no_forms_gets_the_bytes_of_the_ordinary_preview(
    server: RunningServer, cast: Cast, given: Answer, capabilities: Any
) -> None:
    token = cast.make_key()
    modern = post_tool(server, token, given, capabilities)
    legacy = call_tool(server, token, TOOL, **given)
    asked_for = post_tool(server, token, given | {"confirmed": False})
    for answer in (modern["result"], legacy, asked_for["result"]):
        hide_token(answer)
    fields = {"resultType": "complete", "_meta": modern["result"]["_meta"]}
    # The order of fields counts as well.
    assert orjson.dumps(modern["result"]) == orjson.dumps(legacy | fields) == orjson.dumps(asked_for["result"])
    assert list(modern["result"]) == ["content", "isError", "structuredContent", "resultType", "_meta"]


def hide_token(result: Answer) -> None:
    """Hide the token of a preview, which names the second in which it was made."""
    token = result["structuredContent"]["preview"]["previewToken"]
    result["structuredContent"]["preview"]["previewToken"] = "token"
    result["content"][1]["text"] = result["content"][1]["text"].replace(token, "token")


def test_earlier_revisions_are_never_asked(server: RunningServer, token: str, given: Answer) -> None:
    call = make_legacy_call("tools/call", {"name": TOOL, "arguments": given, "_meta": {CAPABILITIES: FORMS}})
    call["params"] |= {"requestState": "anything", "inputResponses": {"confirm": ACCEPT}}
    result = post_call(server, token, call).json()["result"]
    assert result["structuredContent"]["status"] == "preview"
    assert "resultType" not in result
