"""What each protocol sends: complete, valid for its servers, and nothing of another model."""

import json
from typing import Any

import pytest

from mainstay.business.organisation.assistant_settings import ModelDialect
from mainstay.doors.assistant.models.client import DIALECTS
from mainstay.doors.assistant.models.conversation import (
    CallResult,
    CallResults,
    Finished,
    ModelCall,
    ModelReply,
    ModelRequest,
    UserText,
)
from mainstay.doors.assistant.models.dialect import HttpRequest
from mainstay.doors.assistant.models.model_settings import ModelSettings
from support.model_requests import LIST_JOBS, make_model_request, make_model_settings, parse_pieces
from support.model_streams import ScriptedCall, ScriptedTurn, render_stream

EACH_DIALECT = pytest.mark.parametrize("dialect", list(ModelDialect))
CALL = ModelCall("c1", "list_jobs", '{"search": "Köln"}')
RESULTS = CallResults((CallResult("c1", "2 jobs"),))
CONVERSATION = (UserText("Which jobs?"), ModelReply("I look.", (CALL,)), RESULTS)


def build(dialect: ModelDialect, request: ModelRequest, **settings: Any) -> HttpRequest:
    return DIALECTS[dialect].build_request(make_model_settings(dialect, **settings), request)


def build_body(dialect: ModelDialect, *messages: Any, **settings: Any) -> Any:
    return json.loads(build(dialect, make_model_request(*messages), **settings).body)


@pytest.mark.parametrize(
    ("dialect", "address", "expected"),
    [
        *(
            (ModelDialect.CHAT, address, f"http://localhost:11434/v1/chat/completions{query}")
            for address, query in [
                ("http://localhost:11434", ""),
                ("http://localhost:11434/", ""),
                (" http://localhost:11434/v1 ", ""),
                ("http://localhost:11434/v1/", ""),
                ("http://localhost:11434/v1/chat/completions", ""),
                ("http://localhost:11434/v1?api-version=2", "?api-version=2"),
            ]
        ),
        (ModelDialect.CHAT, "https://a.example/v1beta/openai/", "https://a.example/v1beta/openai/chat/completions"),
        (ModelDialect.RESPONSES, "https://api.openai.com/v1", "https://api.openai.com/v1/responses"),
        (ModelDialect.RESPONSES, "https://api.openai.com", "https://api.openai.com/v1/responses"),
        (ModelDialect.MESSAGES, "https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
        (ModelDialect.MESSAGES, "https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages"),
        (ModelDialect.MESSAGES, "https://api.anthropic.com/v1/messages", "https://api.anthropic.com/v1/messages"),
        (ModelDialect.MESSAGES, "https://a.example/anthropic", "https://a.example/anthropic/v1/messages"),
    ],
)
def test_whichever_address_is_entered(dialect: ModelDialect, address: str, expected: str) -> None:
    assert build(dialect, make_model_request(), url=address).url == expected


def test_messages() -> None:
    request = build(ModelDialect.MESSAGES, make_model_request(*CONVERSATION))
    assert request.headers == {
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        "x-api-key": "sk-scripted",
    }
    remember = {"cache_control": {"type": "ephemeral"}}
    assert json.loads(request.body) == {
        "model": "scripted",
        "max_tokens": 500,
        "stream": True,
        "system": [{"type": "text", "text": "You help a plumber.", **remember}],
        "tools": [{"name": "list_jobs", "description": "List jobs.", "input_schema": LIST_JOBS.input_schema}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Which jobs?"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "c1", "name": "list_jobs", "input": {"search": "Köln"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "2 jobs", "is_error": False, **remember}
                ],
            },
        ],
    }


def test_chat() -> None:
    request = build(ModelDialect.CHAT, make_model_request(*CONVERSATION))
    assert request.headers == {"content-type": "application/json", "authorization": "Bearer sk-scripted"}
    function = {"name": "list_jobs", "description": "List jobs.", "parameters": LIST_JOBS.input_schema}
    call = {"id": "c1", "type": "function", "function": {"name": "list_jobs", "arguments": CALL.arguments}}
    assert json.loads(request.body) == {
        "model": "scripted",
        "max_tokens": 500,
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [{"type": "function", "function": function}],
        "messages": [
            {"role": "system", "content": "You help a plumber."},
            {"role": "user", "content": "Which jobs?"},
            {"role": "assistant", "content": "I look.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "2 jobs"},
        ],
    }


def test_responses() -> None:
    request = build(ModelDialect.RESPONSES, make_model_request(*CONVERSATION))
    assert request.headers["authorization"] == "Bearer sk-scripted"
    tool = {"type": "function", "name": "list_jobs", "description": "List jobs.", "strict": False}
    assert json.loads(request.body) == {
        "model": "scripted",
        "max_output_tokens": 500,
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "instructions": "You help a plumber.",
        "tools": [tool | {"parameters": LIST_JOBS.input_schema}],
        "input": [
            {"role": "user", "content": "Which jobs?"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
            {"type": "function_call", "call_id": "c1", "name": "list_jobs", "arguments": CALL.arguments},
            {"type": "function_call_output", "call_id": "c1", "output": "2 jobs"},
        ],
    }


@EACH_DIALECT
def test_without_a_key_tools_and_instructions_none_are_sent(dialect: ModelDialect) -> None:
    settings = ModelSettings("http://127.0.0.1", dialect, "m", None, allows_private=True)
    request = DIALECTS[dialect].build_request(settings, ModelRequest("", [UserText("Hi")], [], 5))
    body = json.loads(request.body)
    assert not {"authorization", "x-api-key"} & {*request.headers}
    assert not {"tools", "system", "instructions"} & {*body}
    assert len(body.get("messages", body.get("input"))) == 1


@EACH_DIALECT
def test_texts_in_succession_are_one(dialect: ModelDialect) -> None:
    body = build_body(dialect, UserText("One"), ModelReply(""), UserText("Two"), UserText("Three"))
    told = json.dumps(body.get("messages", body.get("input")))
    assert told.count('"user"') == (1 if dialect is ModelDialect.MESSAGES else 2)
    assert '""' not in told or dialect is ModelDialect.CHAT


@EACH_DIALECT
@pytest.mark.parametrize("arguments", ["{broken", "[1]", "", '"text"', "[" * 1000 + "]" * 1000])
def test_what_a_model_made_up_is_sent_back_as_servers_accept_it(dialect: ModelDialect, arguments: str) -> None:
    call = ModelCall("c1", "list jobs; DROP TABLE!" + "x" * 100, arguments)
    body = build_body(dialect, UserText("Hi"), ModelReply("", (call,)), RESULTS)
    sent = json.dumps(body)
    assert f'"list_jobs__DROP_TABLE_{"x" * 42}"' in sent
    assert "unreadable" in sent


@EACH_DIALECT
def test_an_error_says_that_it_is_one(dialect: ModelDialect) -> None:
    results = CallResults((CallResult("c1", "No such job.", is_error=True),))
    sent = build(dialect, make_model_request(*CONVERSATION[:2], results)).body.decode()
    assert ('"is_error":true' if dialect is ModelDialect.MESSAGES else '"Error: No such job."') in sent


def test_only_openai_s_own_servers_get_the_newer_name_of_the_limit() -> None:
    for url, name in [
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://firm.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("https://openai.com.example/v1", "max_tokens"),
    ]:
        assert build_body(ModelDialect.CHAT, url=url)[name] == 500


# What a server wants back


def answer(dialect: ModelDialect, turn: ScriptedTurn) -> ModelReply:
    last = parse_pieces(dialect, [render_stream(dialect, turn)])[-1]
    assert isinstance(last, Finished)
    return last.reply


THOUGHT = ScriptedTurn("I look.", (ScriptedCall("list_jobs", {"search": "Köln"}, "c1"),), reasoning="Hm, jobs.")
SENT_BACK: dict[ModelDialect, tuple[Any, ...]] = {
    ModelDialect.MESSAGES: (
        {"type": "thinking", "thinking": "Hm, jobs.", "signature": "c2lnbmVk"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "c1", "name": "list_jobs", "input": {"search": "Köln"}},
    ),
    ModelDialect.CHAT: (
        {
            "role": "assistant",
            "content": "I look.",
            "reasoning_content": "Hm, jobs.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "list_jobs", "arguments": CALL.arguments}}
            ],
        },
    ),
    ModelDialect.RESPONSES: (
        {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "Hm, jobs."},
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "I look.", "annotations": [], "logprobs": []}],
        },
        {
            "id": "fc_0",
            "type": "function_call",
            "status": "completed",
            "call_id": "c1",
            "name": "list_jobs",
            "arguments": CALL.arguments,
        },
    ),
}


def find_reply(body: Any) -> list[Any]:
    """Return what stands between the first text and the results."""
    if "input" in body:
        return list(body["input"][1:-1])
    messages = body["messages"]
    [reply] = [message for message in messages if message["role"] == "assistant"]
    return list(reply["content"]) if isinstance(reply["content"], list) else [reply]


@EACH_DIALECT
def test_reasoning_goes_back_to_its_server_unchanged(dialect: ModelDialect) -> None:
    reply = answer(dialect, THOUGHT)
    # As it is stored in between.
    stored = reply._replace(raw=json.loads(json.dumps(reply.raw)))
    body = build_body(dialect, UserText("Which?"), stored, RESULTS)
    assert tuple(find_reply(body)) == SENT_BACK[dialect]


@EACH_DIALECT
@pytest.mark.parametrize("other", [{"model": "another"}, {"url": "https://other.example"}])
def test_reasoning_never_goes_to_another_model(dialect: ModelDialect, other: dict[str, str]) -> None:
    reply = answer(dialect, THOUGHT)
    body = build_body(dialect, UserText("Which?"), reply, RESULTS, **other)
    assert find_reply(body) == find_reply(build_body(dialect, *CONVERSATION))


@pytest.mark.parametrize("sender", list(ModelDialect))
@EACH_DIALECT
def test_a_conversation_goes_on_in_another_protocol(dialect: ModelDialect, sender: ModelDialect) -> None:
    if sender is dialect:
        return
    body = build_body(dialect, UserText("Which?"), answer(sender, THOUGHT), RESULTS)
    assert "Hm, jobs." not in json.dumps(body)


def test_reasoning_that_is_not_encrypted_is_left_out_with_all_ids() -> None:
    stream = render_stream(ModelDialect.RESPONSES, THOUGHT).replace(b'"encrypted_content": "Hm, jobs."', b'"x": 1')
    last = parse_pieces(ModelDialect.RESPONSES, [stream])[-1]
    assert isinstance(last, Finished)
    sent = find_reply(build_body(ModelDialect.RESPONSES, UserText("Which?"), last.reply, RESULTS))
    assert [item["type"] for item in sent] == ["message", "function_call"]
    assert not any("id" in item for item in sent)


def test_what_gemini_adds_to_a_call_goes_back_with_it() -> None:
    extra = {"google": {"thought_signature": "abc"}}
    call = {"id": "c1", "function": {"name": "get_me", "arguments": "{}"}, "extra_content": extra}
    chunk = {"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    [last] = parse_pieces(ModelDialect.CHAT, [f"data: {json.dumps(chunk)}\n\n".encode()])
    assert isinstance(last, Finished)
    [sent] = find_reply(build_body(ModelDialect.CHAT, UserText("Hi"), last.reply, RESULTS))
    assert sent["tool_calls"][0]["extra_content"] == extra


@EACH_DIALECT
def test_the_key_is_not_in_a_repr(dialect: ModelDialect) -> None:
    assert "sk-scripted" not in repr(make_model_settings(dialect))
