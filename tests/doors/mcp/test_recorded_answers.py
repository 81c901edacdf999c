"""Clients that show no forms get exactly the recorded answers of irreversible tools; only texts and ids differ."""

import re
from collections.abc import Callable

import orjson
import pytest

from mainstay.business.customers.operations import create_customer
from mainstay.business.hours.operations import log_hours
from mainstay.business.jobs.operations import create_job
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.mcp_client import make_legacy_call, make_modern_call, make_modern_headers, post_call
from support.quotes import issue_quote, make_quote
from support.servers import RunningServer
from support.visits import plan_test_visit

pytestmark = pytest.mark.engines("sqlite")

Given = dict[str, object]

# The fields whose values are no texts of ours.
_CONSTANTS = b"jsonrpc|type|object|status|resultType"
_TEXT = rb'"(?:[^"\\]|\\.)*"'

_ONE_TEXT = b'{"type":"text","text":"..."}'
_EMAIL = b'{"to":["..."],"cc":["..."],"subject":"...","message":"..."}'
# What the modern protocol adds to a result.
_MODERN_FIELDS = (
    b',"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":'
    b'{"name":"...","title":"...","version":"..."}}'
)
PREVIEW = (
    b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"..."},{"type":"text","text":"..."}],'
    b'"isError":false,"structuredContent":{"status":"preview","preview":{"object":"preview","operation":"...",'
    b'"summary":"...","effects":["..."],"warnings":["..."],"blockers":["..."],"email":null,"previewToken":"..."}}}}'
)
DONE = (
    b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"..."}],"isError":false,'
    b'"structuredContent":{"status":"done","result":{}}}}'
)


def make_customer(cast: Cast) -> str:
    return str(cast.perform(create_customer, name="Hartley")["id"])


def remove_an_admin(cast: Cast) -> tuple[str, Given]:
    return "remove_person", {"personId": cast.people[Role.ADMIN]}


def merge_two_customers(cast: Cast) -> tuple[str, Given]:
    return "merge_customers", {"customerId": make_customer(cast), "intoCustomerId": make_customer(cast)}


def cancel_a_job(cast: Cast) -> tuple[str, Given]:
    job = cast.perform(create_job, customerId=make_customer(cast), title="Boiler")
    return "cancel_job", {"jobId": job["id"], "reason": "Withdrawn"}


def delete_some_hours(cast: Cast) -> tuple[str, Given]:
    return "delete_hours", {"timeEntryId": cast.perform(log_hours, on="2026-11-02", minutes=60)["id"]}


def send_a_quote(cast: Cast) -> tuple[str, Given]:
    return "send_quote", {"quoteId": make_quote(cast)["id"]}


def withdraw_a_quote(cast: Cast) -> tuple[str, Given]:
    return "withdraw_quote", {"quoteId": issue_quote(cast)["id"], "reason": "Too late"}


def cancel_a_visit(cast: Cast) -> tuple[str, Given]:
    return "plan_schedule", {"changes": [{"change": "cancel", "visitId": plan_test_visit(cast)["id"]}]}


TOOLS = (
    remove_an_admin,
    merge_two_customers,
    cancel_a_job,
    delete_some_hours,
    send_a_quote,
    withdraw_a_quote,
    cancel_a_visit,
)


def hide_texts(body: bytes) -> bytes:
    """Return an answer without the values that differ from one call to the next."""
    hidden = re.sub(rb'("(?:%s)":%s)|:%s' % (_CONSTANTS, _TEXT, _TEXT), lambda found: found[1] or b':"..."', body)
    return re.sub(rb'(?<=":)\[(?:%s(?:,%s)*)?\]' % (_TEXT, _TEXT), b'["..."]', hidden)


@pytest.mark.parametrize("make", TOOLS, ids=lambda one: one.__name__)
def test_the_answers_are_those_that_are_recorded(
    server: RunningServer, cast: Cast, make: Callable[[Cast], tuple[str, Given]]
) -> None:
    tool, given = make(cast)
    token = cast.make_key()
    call = {"name": tool, "arguments": given}
    email = _EMAIL if tool == "send_quote" else b"null"
    preview = PREVIEW.replace(b'"email":null', b'"email":' + email)
    assert hide_texts(post_call(server, token, make_legacy_call("tools/call", call)).content) == preview
    modern = make_modern_call("tools/call", call)
    answer = post_call(server, token, modern, make_modern_headers(modern)).content
    assert hide_texts(answer) == preview[:-2] + _MODERN_FIELDS + b"}}"

    call["arguments"] = {**given, "confirmed": True}
    answer = post_call(server, token, make_legacy_call("tools/call", call)).content
    record = orjson.dumps(orjson.loads(answer)["result"]["structuredContent"]["result"])
    # What can be undone says how, in a text of its own.
    texts = 2 if tool == "plan_schedule" else 1
    done = DONE.replace(_ONE_TEXT, b",".join([_ONE_TEXT] * texts))
    assert hide_texts(answer.replace(record, b"{}")) == done
