"""Replies are read however their bytes are split, and whatever a server makes of its protocol."""

import json
from typing import Any

import hypothesis
import hypothesis.strategies as st
import pytest

from mainstay.business.organisation.assistant_settings import ModelDialect
from mainstay.doors.assistant.models.conversation import (
    Finished,
    ModelCall,
    ModelEvent,
    ModelReply,
    TextDelta,
    UserText,
)
from mainstay.doors.assistant.models.event_stream import MAX_EVENT_BYTES, EventStream
from mainstay.doors.assistant.models.model_problem import ModelProblem
from mainstay.doors.assistant.models.reply_builder import MAX_ARGUMENTS, MAX_CALLS, MAX_RAW, MAX_TEXT
from mainstay.doors.assistant.models.token_estimate import estimate_request_tokens
from support.model_requests import make_model_request, make_model_settings, parse_pieces
from support.model_streams import ScriptedCall, ScriptedTurn, render_error_event, render_events, render_stream

EACH_DIALECT = pytest.mark.parametrize("dialect", list(ModelDialect))
TURN = ScriptedTurn(
    "Grüße 🔧",
    (ScriptedCall("list_jobs", {"search": 'Köln "5"'}), ScriptedCall("get_me")),
    reasoning="Hm, 🤔.",
)
OTHER_LINE_ENDS = (b"\r\n", b"\r")


def last_of(events: list[ModelEvent]) -> Finished:
    *deltas, last = events
    assert isinstance(last, Finished)
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == last.reply.text
    return last


def write_chat(*chunks: dict[str, Any], done: bool = True) -> bytes:
    """Write chunks of Chat Completions; each is a delta, or a whole chunk if it has choices or usage."""
    whole = [chunk if {"choices", "usage", "error"} & {*chunk} else {"choices": [{"delta": chunk}]} for chunk in chunks]
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in whole]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()


def read_chat(*chunks: dict[str, Any], reason: str = "stop") -> Finished:
    end = {"choices": [{"delta": {}, "finish_reason": reason}]}
    return last_of(parse_pieces(ModelDialect.CHAT, [write_chat(*chunks, end)]))


def write_events(*events: dict[str, Any]) -> bytes:
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


# Split anywhere


@EACH_DIALECT
def test_a_reply_is_the_same_wherever_its_bytes_are_split(dialect: ModelDialect) -> None:
    stream = render_stream(dialect, TURN)
    whole = parse_pieces(dialect, [stream])

    last = last_of(whole)
    assert last.reply.text == TURN.text
    assert [(call.name, json.loads(call.arguments)) for call in last.reply.calls] == [
        (call.name, dict(call.arguments)) for call in TURN.calls if not isinstance(call.arguments, str)
    ]
    assert (last.input_tokens, last.output_tokens, last.reason) == (120, 12, "tools")
    assert parse_pieces(dialect, [bytes([byte]) for byte in stream]) == whole


@EACH_DIALECT
def test_a_reply_is_the_same_in_whichever_two_parts_it_arrives(dialect: ModelDialect) -> None:
    stream = render_stream(dialect, ScriptedTurn("é", (ScriptedCall("get_me"),)))
    whole = parse_pieces(dialect, [stream])
    for place in range(len(stream) + 1):
        assert parse_pieces(dialect, [stream[:place], stream[place:]]) == whole


@EACH_DIALECT
@pytest.mark.parametrize("line_end", OTHER_LINE_ENDS)
def test_lines_may_end_otherwise_and_a_mark_may_begin_them(dialect: ModelDialect, line_end: bytes) -> None:
    stream = render_stream(dialect, TURN)
    whole = parse_pieces(dialect, [stream])
    other = b"\xef\xbb\xbf" + stream.replace(b"\n", line_end)
    assert parse_pieces(dialect, [other]) == whole
    assert parse_pieces(dialect, [bytes([byte]) for byte in other]) == whole


def test_an_event_may_have_several_lines_and_other_fields() -> None:
    stream = EventStream()
    assert stream.feed(b"retry: 5\n: hello\n\nid: 7\ndata: {\ndata:  }\nother\n\ndata\n\nevent: x\n\n") == ["{\n }", ""]


@EACH_DIALECT
def test_a_reply_that_breaks_off_anywhere_is_no_reply(dialect: ModelDialect) -> None:
    first, rest = render_events(dialect, TURN)
    events = [*first, *rest]
    finished_at = next(number for number in range(len(events)) if is_reply(dialect, b"".join(events[: number + 1])))
    # Whatever counts is read by then: a call is not cut off.
    assert finished_at >= len(events) - 4
    whole = last_of(parse_pieces(dialect, events))
    assert last_of(parse_pieces(dialect, events[: finished_at + 1])).reply == whole.reply


def is_reply(dialect: ModelDialect, stream: bytes) -> bool:
    try:
        return bool(parse_pieces(dialect, [stream]))
    except ModelProblem as problem:
        return not problem.is_temporary


@EACH_DIALECT
def test_what_follows_the_last_event_is_ignored(dialect: ModelDialect) -> None:
    stream = render_stream(dialect, TURN)
    assert parse_pieces(dialect, [stream + b"data: [DONE]\n\ndata: what?\n\n"]) == parse_pieces(dialect, [stream])


# Fuzz


@EACH_DIALECT
@hypothesis.given(data=st.data())
def test_whatever_arrives_there_are_only_events_or_a_problem(dialect: ModelDialect, data: st.DataObject) -> None:
    stream = bytearray(render_stream(dialect, TURN))
    for _ in range(data.draw(st.integers(0, 4))):
        place = data.draw(st.integers(0, len(stream) - 1))
        stream[place : place + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=20))
    assert_only_events_or_problem(dialect, bytes(stream))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "index",
                    "delta",
                    "choices",
                    "content",
                    "tool_calls",
                    "function",
                    "item",
                    "id",
                    "usage",
                    "error",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@EACH_DIALECT
@hypothesis.given(data=st.data())
def test_whatever_type_a_value_has_there_are_only_events_or_a_problem(
    dialect: ModelDialect, data: st.DataObject
) -> None:
    first, rest = render_events(dialect, TURN)
    events = [json.loads(event.split(b"data: ")[1]) for event in [*first, *rest] if b"data: {" in event]
    for _ in range(data.draw(st.integers(1, 3))):
        replace_value(data.draw(st.sampled_from(events)), data)
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]
    assert_only_events_or_problem(dialect, "".join(lines).encode(errors="surrogatepass"))


def replace_value(value: Any, data: st.DataObject) -> None:
    """Replace one value somewhere in an object."""
    while isinstance(value, (dict, list)) and value:
        place = data.draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
        if data.draw(st.booleans()) or not isinstance(value[place], (dict, list)):
            value[place] = data.draw(JSON_VALUES)
            return
        value = value[place]


def assert_only_events_or_problem(dialect: ModelDialect, stream: bytes) -> None:
    try:
        events = parse_pieces(dialect, [stream])
    except ModelProblem:
        return
    last = last_of(events)
    assert len({call.id for call in last.reply.calls}) == len(last.reply.calls)
    assert last.input_tokens >= 0
    json.dumps(last.reply.raw)


@EACH_DIALECT
@pytest.mark.parametrize("depth", [300, 1_000, 100_000])
def test_deeply_nested_json_is_a_problem_and_no_crash(dialect: ModelDialect, depth: int) -> None:
    nested = "[" * depth + "]" * depth
    [name, event] = {
        ModelDialect.MESSAGES: [
            "input",
            '{"type":"content_block_start","content_block":{"type":"tool_use","input":%s}}',
        ],
        ModelDialect.CHAT: ["arguments", '{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":%s}}]}}]}'],
        ModelDialect.RESPONSES: ["item", '{"type":"response.output_item.done","item":{"type":"message","content":%s}}'],
    }[dialect]
    assert name in event
    end = {ModelDialect.MESSAGES: b'data: {"type":"message_stop"}\n\n', ModelDialect.CHAT: b"data: [DONE]\n\n"}
    with pytest.raises(ModelProblem):
        parse_pieces(dialect, [f"data: {event % nested}\n\n".encode() + end.get(dialect, b"")])


# Bounds


def test_an_event_without_an_end_is_not_stored_endlessly() -> None:
    stream = EventStream()
    stream.feed(b"data: " + b"x" * (MAX_EVENT_BYTES - 6))
    with pytest.raises(ModelProblem):
        stream.feed(b"x")


def test_comments_do_not_count() -> None:
    stream = EventStream()
    for _ in range(MAX_EVENT_BYTES // 1000 + 10):
        assert stream.feed(b": " + b"x" * 1000 + b"\n") == []
    assert stream.feed(b"data: 1\n\n") == ["1"]


def test_a_reply_has_limits() -> None:
    pieces: dict[str, tuple[dict[str, Any], int]] = {
        "text": ({"content": "x" * 10_000}, MAX_TEXT // 10_000),
        "arguments": ({"tool_calls": [{"index": 0, "function": {"arguments": "x" * 10_000}}]}, MAX_ARGUMENTS // 10_000),
        "reasoning": ({"reasoning_content": "x" * 10_000}, MAX_RAW // 10_000),
    }
    for chunk, most in pieces.values():
        assert read_chat(*[chunk] * most)
        with pytest.raises(ModelProblem):
            read_chat(*[chunk] * (most + 1))
    calls = [{"tool_calls": [{"index": number, "id": f"c{number}"}]} for number in range(MAX_CALLS + 1)]
    assert len(read_chat(*calls[:-1]).reply.calls) == MAX_CALLS
    with pytest.raises(ModelProblem, match="more than 16 tools"):
        read_chat(*calls)


def test_the_arguments_of_all_calls_count_together() -> None:
    half = "x" * (MAX_ARGUMENTS // 2)
    pieces = [{"tool_calls": [{"index": number, "function": {"arguments": half}}]} for number in range(3)]
    assert read_chat(*pieces[:2])
    with pytest.raises(ModelProblem):
        read_chat(*pieces)


def test_what_is_sent_back_can_be_stored() -> None:
    """JSON can be read to a greater depth than it can be written."""
    nested: Any = 1
    for _ in range(245):
        nested = [nested]
    with pytest.raises(ModelProblem):
        read_chat({"tool_calls": [{"index": 0, "id": "c1", "extra_content": nested}]})


# What servers make of Chat Completions


def call_chunk(call_id: Any = None, name: Any = None, arguments: Any = None, **others: Any) -> dict[str, Any]:
    return {"tool_calls": [{"id": call_id, "function": {"name": name, "arguments": arguments}, **others}]}


@pytest.mark.parametrize(
    ("chunks", "calls"),
    [
        pytest.param(
            [call_chunk(None, "a", '{"x":1}', index=0), call_chunk(None, "b", "", index=1), call_chunk(index=1)],
            [("call_1", "a", '{"x":1}'), ("call_2", "b", "{}")],
            id="only an index",
        ),
        pytest.param(
            [call_chunk("c1", "a", '{"x":1}'), call_chunk("c2", "b", "{"), call_chunk("c2", None, "}")],
            [("c1", "a", '{"x":1}'), ("c2", "b", "{}")],
            id="only an id",
        ),
        pytest.param(
            [call_chunk(None, "a", '{"x"'), call_chunk(None, None, ":1}"), call_chunk(None, "a", "{}")],
            [("call_1", "a", '{"x":1}'), ("call_2", "a", "{}")],
            id="neither",
        ),
        pytest.param(
            [call_chunk("c1", "a", "{}", index=0), call_chunk("c2", "b", "{}", index=0)],
            [("c1", "a", "{}"), ("c2", "b", "{}")],
            id="the same index",
        ),
        pytest.param(
            [call_chunk("c1", "a", "{", index=0), call_chunk("c1", "a", "}", index=0)],
            [("c1", "a", "{}")],
            id="everything repeated",
        ),
        pytest.param(
            [call_chunk(None, "a", index=0), call_chunk("c1", None, "{}", index=0)], [("c1", "a", "{}")], id="id later"
        ),
        pytest.param(
            [{"tool_calls": [*call_chunk("c", "a")["tool_calls"], *call_chunk("c", "b", index=1)["tool_calls"]]}],
            [("c", "a", "{}")],
            id="an id that is repeated is the same call",
        ),
        pytest.param(
            [call_chunk("", "a", {"x": [1]}, index=0)], [("call_1", "a", '{"x":[1]}')], id="arguments as an object"
        ),
        pytest.param([call_chunk("c1", "a", "{broken", index=0)], [("c1", "a", "{broken")], id="broken arguments"),
    ],
)
def test_calls_of_other_servers(chunks: list[dict[str, Any]], calls: list[tuple[str, str, str]]) -> None:
    finished = read_chat(*chunks)
    assert [tuple(call) for call in finished.reply.calls] == calls
    assert finished.reason == "tools"


def test_an_id_of_ours_is_new_in_the_conversation() -> None:
    earlier = (UserText("Hi"), ModelReply("", (ModelCall("call_2", "a", "{}"),)))
    end = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    for call_id in (None, "call_2"):
        stream = write_chat(call_chunk(call_id, "b", "{}", index=0), end)
        finished = last_of(parse_pieces(ModelDialect.CHAT, [stream], make_model_request(*earlier)))
        assert [call.id for call in finished.reply.calls] == ["call_3"]


def test_a_stream_may_end_without_its_own_event() -> None:
    end = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    assert last_of(parse_pieces(ModelDialect.CHAT, [write_chat({"content": "Hi"}, end, done=False)])).reply.text == "Hi"


def test_text_may_come_in_parts_and_without_nul() -> None:
    assert read_chat({"content": [{"type": "text", "text": "a\0b"}, {"type": "other"}]}).reply.text == "ab"


@EACH_DIALECT
def test_tokens_that_are_not_reported_are_estimated(dialect: ModelDialect) -> None:
    stream = render_stream(dialect, ScriptedTurn("x" * 40, input_tokens=0, output_tokens=0))
    stream = stream.replace(b'"input_tokens": -20, "cache_read_input_tokens": 20', b'"input_tokens": 0')
    finished = last_of(parse_pieces(dialect, [stream]))
    assert finished.is_estimated
    assert finished.input_tokens == estimate_request_tokens(make_model_request()) > 10
    assert finished.output_tokens >= 10


@EACH_DIALECT
@pytest.mark.parametrize(("reason", "text"), [("length", "Half of i"), ("refused", "No."), ("", "")])
def test_why_a_reply_ended(dialect: ModelDialect, reason: Any, text: str) -> None:
    finished = last_of(parse_pieces(dialect, [render_stream(dialect, ScriptedTurn(text, reason=reason))]))
    assert (finished.reason, finished.reply.text, finished.reply.calls) == (reason or "end", text, ())


def test_the_filter_of_a_server_refuses() -> None:
    assert read_chat({"content": "I"}, reason="content_filter").reason == "refused"
    incomplete = {"incomplete_details": {"reason": "content_filter"}, "output": []}
    stream = write_events({"type": "response.incomplete", "response": incomplete})
    assert last_of(parse_pieces(ModelDialect.RESPONSES, [stream])).reason == "refused"


def test_a_call_that_was_cut_does_not_look_complete() -> None:
    assert read_chat(call_chunk("c", "a", '{"x":', index=0), reason="length").reason == "length"


@EACH_DIALECT
def test_an_error_in_the_middle_is_a_problem(dialect: ModelDialect) -> None:
    first, _ = render_events(dialect, TURN)
    with pytest.raises(ModelProblem, match="Overloaded") as caught:
        parse_pieces(dialect, [*first, render_error_event(dialect)])
    assert caught.value.is_temporary


def test_an_error_hides_the_key_and_is_one_short_line() -> None:
    key = make_model_settings(ModelDialect.CHAT).key
    text = f"Bad\nkey\x1b[31m {key} " + "x" * 1000
    with pytest.raises(ModelProblem) as caught:
        parse_pieces(ModelDialect.CHAT, [write_chat({"error": {"message": text}})])
    shown = str(caught.value.message)
    assert str(key) not in shown
    assert "Bad key [31m [hidden] xxx" in shown
    assert len(shown) < 400
    assert not caught.value.is_temporary


# What servers make of the others


def test_a_server_may_send_the_input_of_a_call_at_once() -> None:
    block = {"type": "tool_use", "id": "t1", "name": "get_job", "input": {"id": "7"}}
    stream = write_events(
        {"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    )
    assert last_of(parse_pieces(ModelDialect.MESSAGES, [stream])).reply.calls == (
        ModelCall("t1", "get_job", '{"id":"7"}'),
    )


def test_a_server_may_send_a_response_at_its_end_only() -> None:
    output = [
        {"type": "message", "content": [{"type": "output_text", "text": "Hi."}]},
        {"type": "function_call", "call_id": "c", "name": "get_me", "arguments": {}},
        {"type": "web_search_call"},
    ]
    stream = write_events({"type": "response.completed", "response": {"output": output}})
    finished = last_of(parse_pieces(ModelDialect.RESPONSES, [stream]))
    assert (finished.reply.text, finished.reply.calls) == ("Hi.", (ModelCall("c", "get_me", "{}"),))


def test_a_failed_response_is_a_problem() -> None:
    error = {"code": "server_error", "message": "It failed."}
    stream = write_events({"type": "response.failed", "response": {"error": error}})
    with pytest.raises(ModelProblem, match="server_error: It failed"):
        parse_pieces(ModelDialect.RESPONSES, [stream])


def test_two_blocks_of_the_same_number_are_a_problem() -> None:
    first, rest = render_events(
        ModelDialect.MESSAGES, ScriptedTurn(calls=(ScriptedCall("get_me"), ScriptedCall("search")))
    )
    stream = b"".join([*first, *rest]).replace(b'"index": 1', b'"index": 0')
    with pytest.raises(ModelProblem):
        parse_pieces(ModelDialect.MESSAGES, [stream])
