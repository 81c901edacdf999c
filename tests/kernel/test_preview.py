from mainstay.business.people.operations import invite_person, update_person
from mainstay.business.people.roles import remove_person
from mainstay.kernel.context import Context, RequestDetails
from mainstay.kernel.operation import Effect, operation
from mainstay.values.message import Message
from mainstay.vocabulary.permissions import Permission, Role
from mainstay.vocabulary.refusal import Blocked, Reason
from mainstay.vocabulary.schemas import IrreversibleInput, Output
from mainstay.vocabulary.validation import parse_input
from support.cast import Cast
from support.stored_state import read_all_rows


class Doom(IrreversibleInput):
    pass


class DoomOut(Output):
    noun = "doom"


@operation(
    permission=Permission.PEOPLE_CHANGE,
    effect=Effect.IRREVERSIBLE,
    not_undone=Message("Do it again."),
    past_text="Done",
)
def doom(ctx: Context, _given: Doom) -> DoomOut:
    """Do what cannot be undone, with reasons against it."""
    ctx.summary = Message("Everything ends.")
    ctx.warnings.append(Message("It is late."))
    ctx.db.run("UPDATE person SET phone = 'doomed' WHERE organisation_id = :organisation")
    raise Blocked([Reason(Message("It is Sunday.")), Reason(Message("It rains."))])


def test_a_preview_leaves_every_row_of_every_table_as_it_was(only_cast: Cast) -> None:
    only_cast.make_key(role=Role.ADMIN)
    before = read_all_rows(only_cast.performer.database)
    request = RequestDetails("req_1", idempotency_key="once")
    answer = only_cast.answer(remove_person, request=request, personId=only_cast.people[Role.ADMIN])
    assert b'"object":"preview"' in answer.body
    assert read_all_rows(only_cast.performer.database) == before


def test_any_change_can_be_previewed_and_leaves_nothing(only_cast: Cast) -> None:
    before = read_all_rows(only_cast.performer.database)
    for changing, raw in (
        (invite_person, b'{"name":"N","email":"n@new.example","role":"member"}'),
        (update_person, b'{"personId":"%s","phone":"1"}' % only_cast.people[Role.MEMBER].encode()),
    ):
        given = parse_input(changing.input, raw)
        only_cast.performer.preview(changing, only_cast.actor(Role.OWNER), given, RequestDetails("req_1"))
    assert read_all_rows(only_cast.performer.database) == before


def test_every_reason_against_it_is_shown_with_the_summary_and_the_warnings(only_cast: Cast) -> None:
    before = read_all_rows(only_cast.performer.database)
    assert only_cast.preview(doom) == {
        "object": "preview",
        "operation": "doom",
        "summary": "Everything ends.",
        "effects": [],
        "warnings": ["It is late."],
        "blockers": ["It is Sunday.", "It rains."],
        "email": None,
    }
    assert read_all_rows(only_cast.performer.database) == before


def test_a_preview_is_not_an_answer_to_be_replayed(cast: Cast) -> None:
    request = RequestDetails("req_1", idempotency_key="once")
    member = cast.people[Role.MEMBER]
    preview = cast.answer(remove_person, request=request, personId=member)
    done = cast.answer(remove_person, request=request, personId=member, confirmed=True)
    assert not preview.is_replayed
    assert not done.is_replayed
    assert b'"status":"left"' in done.body
    assert (preview.version, done.version) == (None, 2)
