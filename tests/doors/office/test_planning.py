"""Several visits changed at once in the office: typed, looked at together, and done all or none."""

import re
from typing import Any

import httpx2
import pytest

from mainstay.business.schedule.leave import get_time_off, request_time_off
from mainstay.business.schedule.operations import get_visit, move_visit
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_cast, visible_text
from support.cast import Cast
from support.oauth_app import hidden_value
from support.servers import RunningServer
from support.visits import DAY, make_site_job, plan_test_visit

# Of this door, the smoke set on both engines; what is decided before the database is asked on one.
pytestmark = pytest.mark.engines("sqlite", "postgresql")

PATH = f"/schedule/change?from={DAY}&until={DAY}"
LATER = "2038-01-12"


class Form:
    """The form of a page as a browser would send it: every field as it stands, but for what someone types."""

    def __init__(self, session: BrowserSession, page: httpx2.Response, path: str = PATH) -> None:
        self.visiting, self.page, self.path = session, page.text, path
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

    def field_name(self, visit: Any, name: str) -> str:
        """The name of a field of the row of a visit."""
        [row] = [field.partition(".")[0] for field, text in self.fields.items() if text == visit["id"]]
        return f"{row}.{name}"

    def fill_in(self, visit: Any, **texts: str) -> "Form":
        """Type something in the row of a visit."""
        self.fields |= {self.field_name(visit, name): text for name, text in texts.items()}
        return self

    def submit(self, do: str = "look", **more: str) -> httpx2.Response:
        """Send it by one of its buttons."""
        return self.visiting.post(self.path, self.fields | more | {"do": do})

    def next_form(self, answer: httpx2.Response) -> "Form":
        """The form on the page that came back."""
        return Form(self.visiting, answer, self.path)


@pytest.fixture
def office(server: RunningServer, cast: Cast) -> BrowserSession:
    return sign_in_cast(server, cast, Role.OFFICE)


def open_form(office: BrowserSession, path: str = PATH) -> Form:
    page = office.get(path)
    assert page.status_code == 200, visible_text(page.text)
    return Form(office, page, path)


def read_visit(cast: Cast, visit: Any) -> tuple[Any, ...]:
    now = cast.perform(get_visit, visitId=visit["id"])
    return now["personName"], now["startsAt"], now["endsAt"], now["on"], now["status"]


def test_moves_and_a_cancellation_are_looked_at_and_then_done_together(cast: Cast, office: BrowserSession) -> None:
    early, late, off = (
        plan_test_visit(cast),
        plan_test_visit(cast, times=("13:00", "14:30")),
        plan_test_visit(cast, times=("16:00", "17:00")),
    )
    untouched = plan_test_visit(cast, times=("08:00", "09:00"))
    form = open_form(office).fill_in(early, who=cast.people[Role.SUBCONTRACTOR], time="11:00", length="1,5")
    form.fill_in(late, day=LATER).fill_in(off, off="on")
    looked = form.submit()
    text = visible_text(looked.text)
    assert looked.status_code == 200
    assert "Nothing has changed yet." in text
    assert "2 visits will be moved. 1 visit will be cancelled." in text
    assert "Sam Subcontractor on 11 Jan 2038: 1 visit (1:30 h)." in text
    assert read_visit(cast, early)[0] == "Mia Member"

    done = form.next_form(looked).submit("change")
    assert done.headers["Location"] == f"/schedule?view=week&on={DAY}&done=plan_schedule"
    page = office.follow_redirect(done).text
    assert "Schedule updated. 2 visits moved. 1 visit cancelled." in visible_text(page)
    # It is told once.
    assert "visits moved" not in visible_text(office.follow_redirect(done).text)
    moved = ("Sam Subcontractor", f"{DAY}T11:00:00.000Z", f"{DAY}T12:30:00.000Z", None, "planned")
    assert read_visit(cast, early) == moved
    assert read_visit(cast, late) == ("Mia Member", f"{LATER}T13:00:00.000Z", f"{LATER}T14:30:00.000Z", None, "planned")
    assert read_visit(cast, off)[-1] == "cancelled"
    assert cast.perform(get_visit, visitId=untouched["id"])["version"] == untouched["version"]


def test_all_changes_of_the_rows_are_undone_together(cast: Cast, office: BrowserSession) -> None:
    visits = [plan_test_visit(cast), plan_test_visit(cast, times=("13:00", "14:30"))]
    before = [read_visit(cast, one) for one in visits]
    form = open_form(office).fill_in(visits[0], time="11:00").fill_in(visits[1], off="on")
    page = office.follow_redirect(form.next_form(form.submit()).submit("change")).text
    assert [read_visit(cast, one)[-1] for one in visits] == ["planned", "cancelled"]
    office.press_undo(page)
    assert [read_visit(cast, one) for one in visits] == before


def test_a_clash_is_named_and_nothing_is_done(cast: Cast, office: BrowserSession) -> None:
    mine, theirs = plan_test_visit(cast), plan_test_visit(cast, Role.SUBCONTRACTOR)
    form = open_form(office).fill_in(mine, who=cast.people[Role.SUBCONTRACTOR])
    refused = form.submit()
    assert refused.status_code == 409
    assert f"Sam Subcontractor is at {theirs['jobNumber']} Mend the roof" in visible_text(refused.text)
    assert "find_free_time" not in refused.text
    # Where the overlap is allowed is one press away.
    way = f"/schedule/visits/{mine['id']}/move"
    assert f'<a href="{way}">{mine["jobNumber"]} Mend the roof</a>.' in refused.text
    assert "Allow double booking" in visible_text(office.get(way).text)
    # What was typed is there still, and is put right on the same page.
    again = form.next_form(refused)
    assert again.fields[again.field_name(mine, "who")] == cast.people[Role.SUBCONTRACTOR]
    assert again.next_form(again.fill_in(mine, time="12:00").submit()).submit("change").status_code == 303
    assert read_visit(cast, mine)[1] == f"{DAY}T12:00:00.000Z"


def test_a_clash_that_came_while_one_looked_is_refused(cast: Cast, office: BrowserSession) -> None:
    mine = plan_test_visit(cast)
    looked = open_form(office).fill_in(mine, who=cast.people[Role.SUBCONTRACTOR]).submit()
    there = plan_test_visit(cast, Role.SUBCONTRACTOR)
    refused = Form(office, looked).submit("change")
    assert (refused.status_code, there["jobNumber"] in visible_text(refused.text)) == (409, True)
    assert read_visit(cast, mine)[0] == "Mia Member"


def test_two_people_swap_their_visits(cast: Cast, office: BrowserSession) -> None:
    mine, theirs = plan_test_visit(cast), plan_test_visit(cast, Role.SUBCONTRACTOR)
    form = open_form(office).fill_in(mine, mark="on").fill_in(theirs, mark="on")
    filled = form.submit("swap")
    assert form.next_form(form.next_form(filled).submit()).submit("change").status_code == 303
    assert (read_visit(cast, mine)[0], read_visit(cast, theirs)[0]) == ("Sam Subcontractor", "Mia Member")
    alone = open_form(office).fill_in(mine, mark="on").submit("swap")
    assert (alone.status_code, "Select the two visits" in visible_text(alone.text)) == (422, True)


def test_marked_visits_go_to_someone_or_to_another_day(cast: Cast, office: BrowserSession) -> None:
    first, second, third = (
        plan_test_visit(cast),
        plan_test_visit(cast, times=("13:00", "14:00")),
        plan_test_visit(cast, None, title="Round", on=DAY),
    )
    form = open_form(office).fill_in(first, mark="on").fill_in(third, mark="on")
    filled = form.next_form(form.submit("hand over", to=cast.people[Role.SUBCONTRACTOR], by="1"))
    assert form.next_form(filled.submit()).submit("change").status_code == 303
    assert read_visit(cast, first)[:2] == ("Sam Subcontractor", f"{LATER}T10:00:00.000Z")
    assert read_visit(cast, second)[:2] == ("Mia Member", f"{DAY}T13:00:00.000Z")
    assert read_visit(cast, third) == ("Sam Subcontractor", None, None, LATER, "planned")


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"to": "nobody"}, "Select at least one visit."),
        ({"mark": "on"}, "Choose a person, or the number of days"),
        ({"mark": "on", "by": "soon"}, "as a whole number"),
        ({"mark": "on", "by": "9" * 20}, "as a whole number"),
        ({"mark": "on", "by": "--1"}, "as a whole number"),
        ({"mark": "on", "by": "0" * 9 + "9" * 12}, "as a whole number"),
        ({"mark": "on", "by": "0" * 5000}, "as a whole number"),
        ({"mark": "on", "by": "999"}, "as a whole number"),
    ],
)
def test_what_is_not_clear_is_asked(cast: Cast, office: BrowserSession, sent: dict[str, str], told: str) -> None:
    made = plan_test_visit(cast)
    form = open_form(office).fill_in(made, **{"mark": "on"} if "mark" in sent else {})
    answer = form.submit("hand over", **{name: text for name, text in sent.items() if name != "mark"})
    assert (answer.status_code, told in visible_text(answer.text)) == (422, True)


@pytest.mark.engines("sqlite")
@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({"day": ""}, "Enter a date."),
        ({"length": ""}, "Enter a duration"),
        ({"length": "90"}, "could be hours or minutes"),
        ({"length": "x"}, "is not a time such as"),
        ({"day": "2038-02-30"}, "is not a time"),
        ({"time": "25:00"}, "is not a time"),
        ({"length": "0:00"}, "Duration "),
        ({"who": "person_01ARZ3NDEKTSV4RRFFQ69G5FAV"}, "Person is not part of this organisation."),
        ({"who": "x"}, "Person was not found. Choose one from the list."),
        ({"time": "", "length": "", "day": "2038-13-01"}, "Date must be a date"),
    ],
)
def test_what_cannot_be_read_is_told_in_its_row(
    cast: Cast, office: BrowserSession, typed: dict[str, str], told: str
) -> None:
    made = plan_test_visit(cast)
    answer = open_form(office).fill_in(made, **typed).submit()
    assert answer.status_code == 422
    assert told in visible_text(" ".join(re.findall(r'<p class="fault".*?</p>', answer.text)))
    assert read_visit(cast, made)[:2] == ("Mia Member", f"{DAY}T10:00:00.000Z")


@pytest.mark.engines("sqlite")
def test_nothing_typed_is_nothing_done(cast: Cast, office: BrowserSession) -> None:
    plan_test_visit(cast)
    answer = open_form(office).submit()
    assert (answer.status_code, "No changes yet." in visible_text(answer.text)) == (422, True)


def test_what_is_called_off_stays_on_its_day_whatever_was_typed_there(cast: Cast, office: BrowserSession) -> None:
    made = plan_test_visit(cast)
    form = open_form(office).fill_in(made, off="on", day="x\ny: z", time="25:61", length="?")
    done = form.next_form(form.submit()).submit("change")
    assert done.headers["Location"] == f"/schedule?view=week&on={DAY}&done=plan_schedule"
    assert read_visit(cast, made)[-1] == "cancelled"


def test_any_time_of_a_day_and_back_to_a_time(cast: Cast, office: BrowserSession) -> None:
    made = plan_test_visit(cast)
    form = open_form(office).fill_in(made, time="", length="")
    form.next_form(form.submit()).submit("change")
    assert read_visit(cast, made) == ("Mia Member", None, None, DAY, "planned")
    form = open_form(office).fill_in(made, time="09:15", length="45m")
    form.next_form(form.submit()).submit("change")
    assert read_visit(cast, made)[1:3] == (f"{DAY}T09:15:00.000Z", f"{DAY}T10:00:00.000Z")


def test_times_are_those_of_the_clocks_there(cast: Cast, office: BrowserSession) -> None:
    made = plan_test_visit(cast, jobId=make_site_job(cast, zone="America/New_York")["id"])
    form = open_form(office)
    assert "Local time: New York (America)" in visible_text(form.page)
    assert form.fields[form.field_name(made, "time")] == "10:00"
    form.next_form(form.fill_in(made, time="11:00").submit()).submit("change")
    assert read_visit(cast, made)[1] == f"{DAY}T16:00:00.000Z"


def test_what_another_changed_meanwhile_is_not_overwritten_unseen(cast: Cast, office: BrowserSession) -> None:
    mine, other = plan_test_visit(cast), plan_test_visit(cast, times=("13:00", "14:00"))
    form = open_form(office).fill_in(mine, time="12:00")
    for one in (mine, other):
        cast.perform(move_visit, visitId=one["id"], personId=cast.people[Role.ADMIN])
    refused = form.submit()
    assert refused.status_code == 422
    assert visible_text(refused.text).count("Someone else changed this visit.") == 1
    # After that, the form can be sent. Fields that were not changed here stay as the other person left them.
    again = form.next_form(refused)
    again.next_form(again.submit()).submit("change")
    assert read_visit(cast, mine)[:2] == ("Adam Admin", f"{DAY}T12:00:00.000Z")
    assert read_visit(cast, other)[:2] == ("Adam Admin", f"{DAY}T13:00:00.000Z")


def test_a_visit_that_is_gone_from_these_days_is_told(cast: Cast, office: BrowserSession) -> None:
    mine, other = plan_test_visit(cast), plan_test_visit(cast, times=("13:00", "14:00"))
    form = open_form(office).fill_in(mine, time="12:00")
    cast.perform(move_visit, visitId=mine["id"], on=LATER)
    answer = form.submit()
    assert (answer.status_code, "moved or cancelled a visit that you changed" in visible_text(answer.text)) == (
        409,
        True,
    )
    assert f'value="{other["id"]}"' in answer.text


def test_the_visits_within_time_off_are_moved_from_its_page(cast: Cast, office: BrowserSession) -> None:
    hit, after = plan_test_visit(cast), plan_test_visit(cast, times=("15:00", "16:00"))
    times = {"startsAt": f"{DAY}T09:00", "endsAt": f"{DAY}T12:00"}
    leave = cast.perform(request_time_off, personId=cast.people[Role.MEMBER], kind="sick", approved=True, **times)
    page = office.get(f"/time-off/{leave['id']}").text
    path = f"/schedule/change?timeOffId={leave['id']}"
    assert f'href="{path}"' in page
    form = open_form(office, path)
    assert after["id"] not in form.page
    done = form.next_form(form.fill_in(hit, who="nobody").submit()).submit("change")
    assert done.headers["Location"] == f"/time-off/{leave['id']}?done=plan_schedule"
    assert "Schedule updated. 1 visit moved." in visible_text(office.follow_redirect(done).text)
    assert read_visit(cast, hit)[0] is None
    assert cast.perform(get_time_off, timeOffId=leave["id"])["collisions"] == []
    assert "No visits left during this time off." in visible_text(office.get(path).text)


def test_what_nobody_does_yet_is_given_to_people_from_the_list_of_it(cast: Cast, office: BrowserSession) -> None:
    mine, unassigned, any_day = (
        plan_test_visit(cast),
        plan_test_visit(cast, None),
        plan_test_visit(cast, None, title="Round", on=LATER),
    )
    path = "/schedule/change?unassigned=yes"
    assert f'href="{path}"' in office.get("/schedule/visits?unassigned=yes").text
    form = open_form(office, path)
    assert mine["id"] not in form.page
    form.fill_in(unassigned, who=cast.people[Role.SUBCONTRACTOR]).fill_in(any_day, who=cast.people[Role.MEMBER])
    assert form.next_form(form.submit()).submit("change").status_code == 303
    assert (read_visit(cast, unassigned)[0], read_visit(cast, any_day)[0]) == ("Sam Subcontractor", "Mia Member")
    assert "No visits left." in visible_text(office.get(path).text)


def test_visits_of_whoever_is_on_leave_are_found_in_one_place(cast: Cast, office: BrowserSession) -> None:
    hit, other = plan_test_visit(cast), plan_test_visit(cast, Role.SUBCONTRACTOR)
    cast.perform(request_time_off, personId=cast.people[Role.MEMBER], approved=True, **{"from": DAY})
    form = open_form(office, "/schedule/change?onLeave=yes")
    assert (hit["id"] in form.page, other["id"] in form.page) == (True, False)


def test_a_plan_that_is_sent_twice_is_made_once(cast: Cast, office: BrowserSession) -> None:
    made = plan_test_visit(cast)
    form = Form(office, open_form(office).fill_in(made, time="12:00").submit())
    first = form.submit("change")
    version = cast.perform(get_visit, visitId=made["id"])["version"]
    assert (first.status_code, form.submit("change").status_code < 500) == (303, True)
    assert cast.perform(get_visit, visitId=made["id"])["version"] == version


@pytest.mark.engines("sqlite")
@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_only_those_who_plan_are_let_in(server: RunningServer, cast: Cast, role: Role) -> None:
    made = plan_test_visit(cast, role)
    session = sign_in_cast(server, cast, role)
    assert session.get(PATH).status_code == 403
    assert "/schedule/change" not in session.get(f"/schedule?view=day&on={DAY}").text
    sent = {"csrf": hidden_value(session.get("/").text, "csrf"), "do": "look", "0.visit": made["id"], "0.off": "on"}
    assert session.post(PATH, sent).status_code == 403


@pytest.mark.engines("sqlite")
@pytest.mark.parametrize(
    "asked", ["from=x&until=y", "from=9999-12-31", "from=2038-01-11&until=2026-01-01", "personId=x", "timeOffId=x", ""]
)
def test_whatever_stands_in_the_address_shows_a_page(office: BrowserSession, asked: str) -> None:
    assert office.get(f"/schedule/change?{asked}").status_code == 200


def test_a_time_off_that_is_not_there_is_not_found(office: BrowserSession) -> None:
    assert office.get("/schedule/change?timeOffId=leave_01ARZ3NDEKTSV4RRFFQ69G5FAV").status_code == 404
