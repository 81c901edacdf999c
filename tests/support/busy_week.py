"""A week of a large firm: 30 people with 400 visits."""

from datetime import date, datetime, time, timedelta

from mainstay.business.people.operations import list_people
from mainstay.business.schedule.operations import plan_visit
from support.cast import Cast
from support.visits import insert_colleagues, make_site_job

PEOPLE, VISITS = 30, 400
# A week in the future, with the clocks of winter.
MONDAY = date(2038, 1, 11)
_WORKING_DAYS, _FIRST_HOUR = 5, 8


def plan_busy_week(cast: Cast) -> None:
    """Plan the visits of a week: of each person in turn, day by day, one after the other."""
    insert_colleagues(cast, "active", PEOPLE - len(cast.people))
    people = [person["id"] for person in cast.perform(list_people, limit=100)["data"]]
    jobs = [make_site_job(cast)["id"] for _ in range(20)]
    for number in range(VISITS):
        turn, place = divmod(number, len(people))
        row, column = divmod(turn, _WORKING_DAYS)
        starts_at = datetime.combine(MONDAY + timedelta(days=column), time(_FIRST_HOUR + 2 * row, 30))
        given = {"startsAt": starts_at.isoformat(timespec="minutes"), "durationMinutes": 90}
        cast.perform(plan_visit, jobId=jobs[number % len(jobs)], personIds=[people[place]], **given)
