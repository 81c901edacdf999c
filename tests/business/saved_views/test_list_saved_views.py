from mainstay.business.people.roles import remove_person
from mainstay.business.saved_views.operations import create_saved_view, list_saved_views
from mainstay.business.saved_views.reactions import REACTIONS
from mainstay.kernel.reaction import ReactionEvent
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.stored_state import list_events_of


def list_names(cast: Cast, role: Role, **given: object) -> list[str]:
    return [view["name"] for view in cast.perform(list_saved_views, role, **given)["data"]]


def save(cast: Cast, role: Role, name: str, **given: object) -> str:
    return str(cast.perform(create_saved_view, role, **{"listName": "jobs", "name": name, "query": "", **given})["id"])


def test_each_sees_their_own_and_the_office_what_others_share(cast: Cast, other_cast: Cast) -> None:
    save(other_cast, Role.OWNER, "Foreign", shared=True)
    save(cast, Role.OWNER, "Private")
    save(cast, Role.OWNER, "Shared", shared=True)
    save(cast, Role.OFFICE, "Own")
    save(cast, Role.OFFICE, "Quotes", listName="quotes")
    save(cast, Role.MEMBER, "Mine")
    assert list_names(cast, Role.OFFICE) == ["Quotes", "Own", "Shared"]
    assert list_names(cast, Role.OFFICE, listName="jobs") == ["Own", "Shared"]
    assert list_names(cast, Role.OWNER) == ["Shared", "Private"]
    assert list_names(cast, Role.MEMBER) == ["Mine"]


def test_the_private_ones_of_someone_who_leaves_are_deleted(cast: Cast) -> None:
    save(cast, Role.OFFICE, "Private")
    save(cast, Role.OFFICE, "Shared", shared=True)
    cast.perform(remove_person, personId=cast.people[Role.OFFICE], confirmed=True)
    left = next(event for event in list_events_of(cast) if event["type"] == "person.left")
    (reaction,) = REACTIONS
    cast.performer.run_reaction(
        reaction, cast.organisation, ReactionEvent(left["id"], left["actor"], left["data"]["object"])
    )
    assert list_names(cast, Role.OWNER) == ["Shared"]
    with cast.performer.database.read_transaction(cast.organisation) as db:
        assert db.all("SELECT name FROM saved_view WHERE organisation_id = :organisation") == [("Shared",)]
