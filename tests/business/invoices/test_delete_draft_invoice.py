import pytest

from billing import an_invoice, credited, issued, voided
from cast import Cast
from evidence import as_told, history, last_event
from mainstay.business.invoices.operations import delete_draft_invoice, get_invoice, list_invoices
from mainstay.business.records.search import search
from mainstay.terms.refusal import Blocked, Forbidden, Lapsed, NotFound
from mainstay.terms.rights import Role


def deleted(cast: Cast, invoice: dict[str, str], role: Role = Role.OFFICE) -> dict[str, object]:
    return cast.perform(delete_draft_invoice, role, invoiceId=invoice["id"], confirmed=True)


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_it_is_gone_with_all_that_it_is_found_by(cast: Cast, role: Role) -> None:
    draft = an_invoice(cast, title="Zirconium")
    deleted(cast, draft, role)
    with pytest.raises(NotFound):
        cast.perform(get_invoice, invoiceId=draft["id"])
    assert cast.perform(list_invoices, text="zirconium")["data"] == []
    assert cast.perform(search, text="zirconium")["hits"] == []
    told = last_event(cast)
    assert (told["type"], told["data"]["object"]) == ("invoice.deleted", as_told(draft))
    assert history(cast, draft["id"]) == ["draft_invoice", "delete_draft_invoice"]


@pytest.mark.parametrize("named", ["-", "", "#", "INV-"])
def test_the_only_draft_is_named_by_nothing_but_its_id(cast: Cast, named: str) -> None:
    draft = an_invoice(cast)
    with cast.stage.database.changing(cast.organisation) as rows:
        # As it was found before.
        rows.run(
            "INSERT INTO search_word (organisation_id, kind, word, record_id)"
            " VALUES (:organisation, 'invoice', '#', :id) ON CONFLICT DO NOTHING",
            id=draft["id"],
        )
    with pytest.raises(NotFound):
        cast.perform(delete_draft_invoice, Role.OFFICE, invoiceId=named, confirmed=True)
    assert cast.perform(get_invoice, invoiceId=draft["id"])["status"] == "draft"


def test_it_leaves_no_gap(cast: Cast) -> None:
    deleted(cast, an_invoice(cast))
    assert issued(cast)["number"] == "INV-0001"


def test_a_preview_deletes_nothing(cast: Cast) -> None:
    draft = an_invoice(cast)
    preview = cast.perform(delete_draft_invoice, Role.OFFICE, invoiceId=draft["id"])
    assert preview["summary"] == "Draft invoice New heating: deleted."
    assert preview["blockers"] == []
    assert cast.perform(get_invoice, invoiceId=draft["id"])["version"] == draft["version"]


def test_what_has_a_number_stays_in_the_books(cast: Cast) -> None:
    sent = issued(cast)
    with pytest.raises(Blocked, match=r"^INV-0001 has a number, so it stays in the books\. Void or credit it instead"):
        deleted(cast, sent)
    for over in (voided(cast, sent), credited(cast, issued(cast))):
        with pytest.raises(Blocked, match=r"has a number, so it stays in the books\.$"):
            deleted(cast, over)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_delete_none(cast: Cast, role: Role) -> None:
    draft = an_invoice(cast)
    with pytest.raises(Forbidden):
        deleted(cast, draft, role)


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, stranger: Cast) -> None:
    draft = an_invoice(cast)
    with pytest.raises(NotFound):
        deleted(stranger, draft)
    cast.lapse()
    with pytest.raises(Lapsed):
        deleted(cast, draft)
