"""Several visits changed at once in the office: typed, looked at together, and done all or none."""

import re
from typing import Any

import httpx2
import pytest

from apps import hidden
from cast import Cast
from mainstay.business.schedule.leave import get_time_off, request_time_off
from mainstay.business.schedule.operations import get_visit, move_visit
from mainstay.terms.rights import Role
from running import RunningServer
from scheduling import DAY, make_job, plan
from visiting import Visit, visit_as, words

# Of this door, the smoke set on both engines.
pytestmark = pytest.mark.engines("sqlite", "postgresql")

PATH = f"/schedule/change?from={DAY}&until={DAY}"
LATER = "2038-01-12"


class Form:
    """The form of a page as a browser would send it: every field as it stands, but for what someone types."""

    def __init__(self, visiting: Visit, page: httpx2.Response, path: str = PATH) -> None:
        self.visiting, self.page, self.path = visiting, page.text, path
        form = page.text.partition('<form method="post">')[2].partition("</form>")[0]
        inputs = re.findall(r"<input\b[^>]*>", form)
        self.fields = {
            named[1]: (re.search(r'\bvalue="([^"]*)"', one) or ["", "on" if '"checkbox"' in one else ""])[1]
            for one in inputs
            if (named := re.search(r'\bname="([^"]+)"', one)) and ('"checkbox"' not in one or " checked" in one)
        }
        for name, options in re.findall(r'<select[^>]* name="([^"]+)"[^>]*>(.*?)</select>', form, re.DOTALL):
            chosen = re.search(r'<option value="([^"]*)" selected', options)
            self.fields[name] = chosen[1] if chosen else ""

    def at(self, visit: Any, name: str) -> str:
        """The name of a field of the row of a visit."""
        [row] = [field.partition(".")[0] for field, text in self.fields.items() if text == visit["id"]]
        return f"{row}.{name}"

    def type(self, visit: Any, **texts: str) -> "Form":
        """Type something in the row of a visit."""
        self.fields |= {self.at(visit, name): text for name, text in texts.items()}
        return self

    def press(self, do: str = "look", **more: str) -> httpx2.Response:
        """Send it by one of its buttons."""
        return self.visiting.post(self.path, self.fields | more | {"do": do})

    def then(self, answer: httpx2.Response) -> "Form":
        """The form on the page that came back."""
        return Form(self.visiting, answer, self.path)


@pytest.fixture
def office(server: RunningServer, cast: Cast) -> Visit:
    return visit_as(server, cast, Role.OFFICE)


def opened(office: Visit, path: str = PATH) -> Form:
    page = office.get(path)
    assert page.status_code == 200, words(page.text)
    return Form(office, page, path)


def stands(cast: Cast, visit: Any) -> tuple[Any, ...]:
    now = cast.perform(get_visit, visitId=visit["id"])
    return now["personName"], now["startsAt"], now["endsAt"], now["on"], now["status"]


def test_moves_and_a_cancellation_are_looked_at_and_then_done_together(cast: Cast, office: Visit) -> None:
    early, late, off = plan(cast), plan(cast, times=("13:00", "14:30")), plan(cast, times=("16:00", "17:00"))
    untouched = plan(cast, times=("08:00", "09:00"))
    form = opened(office).type(early, who=cast.people[Role.SUBCONTRACTOR], time="11:00", length="1,5")
    form.type(late, day=LATER).type(off, off="on")
    looked = form.press()
    told = words(looked.text)
    assert looked.status_code == 200
    assert "Nothing has happened yet." in told
    assert "Visits are moved: 2, cancelled: 1." in told
    assert "Sam Subcontractor on 11 Jan 2038: 1 visit, 1 h 30 min." in told
    assert stands(cast, early)[0] == "Mia Member"

    done = form.then(looked).press("change")
    assert done.headers["Location"] == f"/schedule?view=week&on={DAY}&done=plan_schedule"
    page = office.follow(done).text
    assert "The schedule is changed. Visits are moved: 2, cancelled: 1." in words(page)
    # It is told once.
    assert "Visits are moved" not in words(office.follow(done).text)
    moved = ("Sam Subcontractor", f"{DAY}T11:00:00.000Z", f"{DAY}T12:30:00.000Z", None, "planned")
    assert stands(cast, early) == moved
    assert stands(cast, late) == ("Mia Member", f"{LATER}T13:00:00.000Z", f"{LATER}T14:30:00.000Z", None, "planned")
    assert stands(cast, off)[-1] == "cancelled"
    assert cast.perform(get_visit, visitId=untouched["id"])["version"] == untouched["version"]


def test_a_clash_is_named_and_nothing_is_done(cast: Cast, office: Visit) -> None:
    mine, theirs = plan(cast), plan(cast, Role.SUBCONTRACTOR)
    form = opened(office).type(mine, who=cast.people[Role.SUBCONTRACTOR])
    refused = form.press()
    assert refused.status_code == 409
    assert f"Sam Subcontractor is at {theirs['jobNumber']} Mend the roof" in words(refused.text)
    assert "find_free_time" not in refused.text
    # Where the overlap is allowed is one press away.
    way = f"/schedule/visits/{mine['id']}/move"
    assert f'<a href="{way}">{mine["jobNumber"]} Mend the roof</a>.' in refused.text
    assert "May overlap" in words(office.get(way).text)
    # What was typed is there still, and is put right on the same page.
    again = form.then(refused)
    assert again.fields[again.at(mine, "who")] == cast.people[Role.SUBCONTRACTOR]
    assert again.then(again.type(mine, time="12:00").press()).press("change").status_code == 303
    assert stands(cast, mine)[1] == f"{DAY}T12:00:00.000Z"


def test_a_clash_that_came_while_one_looked_is_refused(cast: Cast, office: Visit) -> None:
    mine = plan(cast)
    looked = opened(office).type(mine, who=cast.people[Role.SUBCONTRACTOR]).press()
    there = plan(cast, Role.SUBCONTRACTOR)
    refused = Form(office, looked).press("change")
    assert (refused.status_code, there["jobNumber"] in words(refused.text)) == (409, True)
    assert stands(cast, mine)[0] == "Mia Member"


def test_two_people_swap_their_visits(cast: Cast, office: Visit) -> None:
    mine, theirs = plan(cast), plan(cast, Role.SUBCONTRACTOR)
    form = opened(office).type(mine, mark="on").type(theirs, mark="on")
    filled = form.press("swap")
    assert form.then(form.then(filled).press()).press("change").status_code == 303
    assert (stands(cast, mine)[0], stands(cast, theirs)[0]) == ("Sam Subcontractor", "Mia Member")
    alone = opened(office).type(mine, mark="on").press("swap")
    assert (alone.status_code, "Mark the two visits" in words(alone.text)) == (422, True)


def test_marked_visits_go_to_someone_or_to_another_day(cast: Cast, office: Visit) -> None:
    first, second, third = plan(cast), plan(cast, times=("13:00", "14:00")), plan(cast, None, title="Round", on=DAY)
    form = opened(office).type(first, mark="on").type(third, mark="on")
    filled = form.then(form.press("hand over", to=cast.people[Role.SUBCONTRACTOR], by="1"))
    assert form.then(filled.press()).press("change").status_code == 303
    assert stands(cast, first)[:2] == ("Sam Subcontractor", f"{LATER}T10:00:00.000Z")
    assert stands(cast, second)[:2] == ("Mia Member", f"{DAY}T13:00:00.000Z")
    assert stands(cast, third) == ("Sam Subcontractor", None, None, LATER, "planned")


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"to": "nobody"}, "Mark the visits that are meant."),
        ({"mark": "on"}, "Choose who does the marked visits"),
        ({"mark": "on", "by": "soon"}, "as a whole number"),
        ({"mark": "on", "by": "9" * 20}, "as a whole number"),
        ({"mark": "on", "by": "--1"}, "as a whole number"),
        ({"mark": "on", "by": "0" * 9 + "9" * 12}, "as a whole number"),
        ({"mark": "on", "by": "0" * 5000}, "as a whole number"),
        ({"mark": "on", "by": "999"}, "as a whole number"),
    ],
)
def test_what_is_not_clear_is_asked(cast: Cast, office: Visit, sent: dict[str, str], told: str) -> None:
    made = plan(cast)
    form = opened(office).type(made, **{"mark": "on"} if "mark" in sent else {})
    answer = form.press("hand over", **{name: text for name, text in sent.items() if name != "mark"})
    assert (answer.status_code, told in words(answer.text)) == (422, True)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({"day": ""}, "Say on which day."),
        ({"length": ""}, "Say for how long"),
        ({"length": "90"}, "could be hours or minutes"),
        ({"length": "x"}, "is not a time such as"),
        ({"day": "2038-02-30"}, "is not a time"),
        ({"time": "25:00"}, "is not a time"),
        ({"length": "0:00"}, "It "),
        ({"who": "person_01ARZ3NDEKTSV4RRFFQ69G5FAV"}, "It names nobody of this organisation."),
        ({"who": "x"}, "It is none that is known here."),
        ({"time": "", "length": "", "day": "2038-13-01"}, "It is not"),
    ],
)
def test_what_cannot_be_read_is_told_in_its_row(cast: Cast, office: Visit, typed: dict[str, str], told: str) -> None:
    made = plan(cast)
    answer = opened(office).type(made, **typed).press()
    assert answer.status_code == 422
    assert told in words(" ".join(re.findall(r'<p class="fault".*?</p>', answer.text)))
    assert stands(cast, made)[:2] == ("Mia Member", f"{DAY}T10:00:00.000Z")


def test_nothing_typed_is_nothing_done(cast: Cast, office: Visit) -> None:
    plan(cast)
    answer = opened(office).press()
    assert (answer.status_code, "Nothing is different yet." in words(answer.text)) == (422, True)


def test_what_is_called_off_stays_on_its_day_whatever_was_typed_there(cast: Cast, office: Visit) -> None:
    made = plan(cast)
    form = opened(office).type(made, off="on", day="x\ny: z", time="25:61", length="?")
    done = form.then(form.press()).press("change")
    assert done.headers["Location"] == f"/schedule?view=week&on={DAY}&done=plan_schedule"
    assert stands(cast, made)[-1] == "cancelled"


def test_any_time_of_a_day_and_back_to_a_time(cast: Cast, office: Visit) -> None:
    made = plan(cast)
    form = opened(office).type(made, time="", length="")
    form.then(form.press()).press("change")
    assert stands(cast, made) == ("Mia Member", None, None, DAY, "planned")
    form = opened(office).type(made, time="09:15", length="45m")
    form.then(form.press()).press("change")
    assert stands(cast, made)[1:3] == (f"{DAY}T09:15:00.000Z", f"{DAY}T10:00:00.000Z")


def test_times_are_those_of_the_clocks_there(cast: Cast, office: Visit) -> None:
    made = plan(cast, jobId=make_job(cast, zone="America/New_York")["id"])
    form = opened(office)
    assert "By the clocks in New York (America)" in words(form.page)
    assert form.fields[form.at(made, "time")] == "10:00"
    form.then(form.type(made, time="11:00").press()).press("change")
    assert stands(cast, made)[1] == f"{DAY}T16:00:00.000Z"


def test_what_another_changed_meanwhile_is_not_overwritten_unseen(cast: Cast, office: Visit) -> None:
    mine, other = plan(cast), plan(cast, times=("13:00", "14:00"))
    form = opened(office).type(mine, time="12:00")
    for one in (mine, other):
        cast.perform(move_visit, visitId=one["id"], personId=cast.people[Role.ADMIN])
    refused = form.press()
    assert refused.status_code == 422
    assert words(refused.text).count("Someone has changed it since you opened this page.") == 1
    # Whoever has seen it may go on; what was not typed over here stays as the other left it.
    again = form.then(refused)
    again.then(again.press()).press("change")
    assert stands(cast, mine)[:2] == ("Adam Admin", f"{DAY}T12:00:00.000Z")
    assert stands(cast, other)[:2] == ("Adam Admin", f"{DAY}T13:00:00.000Z")


def test_a_visit_that_is_gone_from_these_days_is_told(cast: Cast, office: Visit) -> None:
    mine, other = plan(cast), plan(cast, times=("13:00", "14:00"))
    form = opened(office).type(mine, time="12:00")
    cast.perform(move_visit, visitId=mine["id"], on=LATER)
    answer = form.press()
    assert (answer.status_code, "no longer among these" in words(answer.text)) == (409, True)
    assert f'value="{other["id"]}"' in answer.text


def test_the_visits_within_time_off_are_moved_from_its_page(cast: Cast, office: Visit) -> None:
    hit, after = plan(cast), plan(cast, times=("15:00", "16:00"))
    times = {"startsAt": f"{DAY}T09:00", "endsAt": f"{DAY}T12:00"}
    leave = cast.perform(request_time_off, personId=cast.people[Role.MEMBER], kind="sick", approved=True, **times)
    page = office.get(f"/time-off/{leave['id']}").text
    path = f"/schedule/change?timeOffId={leave['id']}"
    assert f'href="{path}"' in page
    form = opened(office, path)
    assert after["id"] not in form.page
    done = form.then(form.type(hit, who="nobody").press()).press("change")
    assert done.headers["Location"] == f"/time-off/{leave['id']}?done=plan_schedule"
    assert "The schedule is changed. Visits are moved: 1." in words(office.follow(done).text)
    assert stands(cast, hit)[0] is None
    assert cast.perform(get_time_off, timeOffId=leave["id"])["collisions"] == []
    assert "No visit falls into this time off any more." in words(office.get(path).text)


def test_what_nobody_does_yet_is_given_to_people_from_the_list_of_it(cast: Cast, office: Visit) -> None:
    mine, whose, any_day = plan(cast), plan(cast, None), plan(cast, None, title="Round", on=LATER)
    path = "/schedule/change?unassigned=yes"
    assert f'href="{path}"' in office.get("/schedule/visits?unassigned=yes").text
    form = opened(office, path)
    assert mine["id"] not in form.page
    form.type(whose, who=cast.people[Role.SUBCONTRACTOR]).type(any_day, who=cast.people[Role.MEMBER])
    assert form.then(form.press()).press("change").status_code == 303
    assert (stands(cast, whose)[0], stands(cast, any_day)[0]) == ("Sam Subcontractor", "Mia Member")
    assert "There are none any more." in words(office.get(path).text)


def test_visits_of_whoever_is_on_leave_are_found_in_one_place(cast: Cast, office: Visit) -> None:
    hit, other = plan(cast), plan(cast, Role.SUBCONTRACTOR)
    cast.perform(request_time_off, personId=cast.people[Role.MEMBER], approved=True, **{"from": DAY})
    form = opened(office, "/schedule/change?onLeave=yes")
    assert (hit["id"] in form.page, other["id"] in form.page) == (True, False)


def test_a_plan_that_is_sent_twice_is_made_once(cast: Cast, office: Visit) -> None:
    made = plan(cast)
    form = Form(office, opened(office).type(made, time="12:00").press())
    first = form.press("change")
    version = cast.perform(get_visit, visitId=made["id"])["version"]
    assert (first.status_code, form.press("change").status_code < 500) == (303, True)
    assert cast.perform(get_visit, visitId=made["id"])["version"] == version


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_only_those_who_plan_are_let_in(server: RunningServer, cast: Cast, role: Role) -> None:
    made = plan(cast, role)
    visiting = visit_as(server, cast, role)
    assert visiting.get(PATH).status_code == 403
    assert "/schedule/change" not in visiting.get(f"/schedule?view=day&on={DAY}").text
    sent = {"csrf": hidden(visiting.get("/").text, "csrf"), "do": "look", "0.visit": made["id"], "0.off": "on"}
    assert visiting.post(PATH, sent).status_code == 403


@pytest.mark.parametrize(
    "asked", ["from=x&until=y", "from=9999-12-31", "from=2038-01-11&until=2026-01-01", "personId=x", "timeOffId=x", ""]
)
def test_whatever_stands_in_the_address_shows_a_page(office: Visit, asked: str) -> None:
    assert office.get(f"/schedule/change?{asked}").status_code == 200


def test_a_time_off_that_is_not_there_is_not_found(office: Visit) -> None:
    assert office.get("/schedule/change?timeOffId=leave_01ARZ3NDEKTSV4RRFFQ69G5FAV").status_code == 404
