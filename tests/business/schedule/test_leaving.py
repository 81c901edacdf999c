from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.people.roles import remove_person
from mainstay.business.schedule.operations import get_visit, list_visits
from mainstay.business.schedule.reactions import REACTIONS
from mainstay.kernel.reaction import ReactionEvent
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.stored_state import list_events_of
from support.visits import plan_test_visit


def test_what_is_planned_for_someone_who_left_waits_for_another(cast: Cast) -> None:
    planned, any_time = plan_test_visit(cast), plan_test_visit(cast, on="2038-01-12")
    done = plan_test_visit(cast, times=("12:00", "13:00"))
    cast.perform(set_visit_status, visitId=done["id"], status="done")
    theirs = plan_test_visit(cast, Role.SUBCONTRACTOR)
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    left = next(event for event in list_events_of(cast) if event["type"] == "person.left")
    (reaction,) = REACTIONS
    cast.performer.run_reaction(
        reaction, cast.organisation, ReactionEvent(left["id"], left["actor"], left["data"]["object"])
    )
    unassigned = cast.perform(list_visits, unassigned=True)["data"]
    assert {one["id"] for one in unassigned} == {planned["id"], any_time["id"]}
    assert cast.perform(get_visit, visitId=done["id"])["personName"] == "Mia Member"
    assert cast.perform(get_visit, visitId=theirs["id"])["personName"] == "Sam Subcontractor"
