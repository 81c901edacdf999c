from cast import Cast
from evidence import contents
from mainstay.business.people.operations import invite_person, update_person
from mainstay.business.people.standing import remove_person
from mainstay.kernel.context import Context, Envelope
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.faults import accept
from mainstay.terms.refusal import Blocked, Reason
from mainstay.terms.rights import Right, Role
from mainstay.terms.shapes import Irrevocable, Shown


class Doom(Irrevocable):
    pass


class DoomOut(Shown):
    noun = "doom"


@operation(right=Right.PEOPLE_CHANGE, effect=Effect.IRREVERSIBLE)
def doom(ctx: Context, _given: Doom) -> DoomOut:
    """Do what cannot be undone, with reasons against it."""
    ctx.summary = "Everything ends."
    ctx.warnings.append("It is late.")
    ctx.rows.run("UPDATE person SET phone = 'doomed' WHERE organisation_id = :organisation")
    raise Blocked([Reason("It is Sunday."), Reason("It rains.")])


def test_a_rehearsal_leaves_every_row_of_every_table_as_it_was(alone: Cast) -> None:
    alone.key(role=Role.ADMIN)
    before = contents(alone.stage.database)
    request = Envelope("req_1", replay_key="once")
    answer = alone.answer(remove_person, request=request, personId=alone.people[Role.ADMIN])
    assert b'"object":"preview"' in answer.body
    assert contents(alone.stage.database) == before


def test_any_change_can_be_rehearsed_and_leaves_nothing(alone: Cast) -> None:
    before = contents(alone.stage.database)
    for changing, raw in (
        (invite_person, b'{"name":"N","email":"n@new.example","role":"member"}'),
        (update_person, b'{"personId":"%s","phone":"1"}' % alone.people[Role.MEMBER].encode()),
    ):
        given = accept(changing.input, raw)
        alone.stage.rehearse(changing, alone.actor(Role.OWNER), given, Envelope("req_1"))
    assert contents(alone.stage.database) == before


def test_every_reason_against_it_is_shown_with_the_summary_and_the_warnings(alone: Cast) -> None:
    before = contents(alone.stage.database)
    assert alone.perform(doom) == {
        "object": "preview",
        "operation": "doom",
        "summary": "Everything ends.",
        "effects": [],
        "warnings": ["It is late."],
        "blockers": ["It is Sunday.", "It rains."],
    }
    assert contents(alone.stage.database) == before


def test_a_preview_is_not_an_answer_to_be_replayed(cast: Cast) -> None:
    request = Envelope("req_1", replay_key="once")
    member = cast.people[Role.MEMBER]
    preview = cast.answer(remove_person, request=request, personId=member)
    done = cast.answer(remove_person, request=request, personId=member, confirmed=True)
    assert not preview.replayed
    assert not done.replayed
    assert b'"status":"left"' in done.body
    assert (preview.version, done.version) == (None, 2)
