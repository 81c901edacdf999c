from cast import Cast
from evidence import events
from mainstay.business.people.standing import remove_person
from mainstay.business.schedule.operations import get_visit, list_visits, set_visit_status
from mainstay.business.schedule.reactions import REACTIONS
from mainstay.kernel.reaction import Happening
from mainstay.terms.rights import Role
from scheduling import plan


def test_what_is_planned_for_someone_who_left_waits_for_another(cast: Cast) -> None:
    planned, any_time = plan(cast), plan(cast, on="2038-01-12")
    done = plan(cast, times=("12:00", "13:00"))
    cast.perform(set_visit_status, visitId=done["id"], status="done")
    theirs = plan(cast, Role.SUBCONTRACTOR)
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    left = next(event for event in events(cast) if event["type"] == "person.left")
    (reaction,) = REACTIONS
    cast.stage.react(reaction, cast.organisation, Happening(left["id"], left["actor"], left["data"]["object"]))
    unassigned = cast.perform(list_visits, unassigned=True)["data"]
    assert {one["id"] for one in unassigned} == {planned["id"], any_time["id"]}
    assert cast.perform(get_visit, visitId=done["id"])["personName"] == "Mia Member"
    assert cast.perform(get_visit, visitId=theirs["id"])["personName"] == "Sam Subcontractor"
