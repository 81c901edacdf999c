import pytest

from mainstay.business.invoices.drafting.operations import delete_draft_invoice, get_invoice, list_invoices
from mainstay.business.records.search import search
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Lapsed, NotFound
from support.cast import Cast
from support.invoices import credit_issued, issue_invoice, make_invoice, void_issued
from support.stored_state import operations_on, read_last_event, to_event_record


def delete_draft(cast: Cast, invoice: dict[str, str], role: Role = Role.OFFICE) -> dict[str, object]:
    return cast.perform(delete_draft_invoice, role, invoiceId=invoice["id"], confirmed=True)


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_it_is_gone_with_all_that_it_is_found_by(cast: Cast, role: Role) -> None:
    draft = make_invoice(cast, title="Zirconium")
    delete_draft(cast, draft, role)
    with pytest.raises(NotFound):
        cast.perform(get_invoice, invoiceId=draft["id"])
    assert cast.perform(list_invoices, text="zirconium")["data"] == []
    assert cast.perform(search, text="zirconium")["hits"] == []
    event = read_last_event(cast)
    assert (event["type"], event["data"]["object"]) == ("invoice.deleted", to_event_record(draft))
    assert operations_on(cast, draft["id"]) == ["draft_invoice", "delete_draft_invoice"]


@pytest.mark.parametrize("named", ["-", "", "#", "INV-"])
def test_the_only_draft_is_named_by_nothing_but_its_id(cast: Cast, named: str) -> None:
    draft = make_invoice(cast)
    with cast.performer.database.write_transaction(cast.organisation) as db:
        # As it was found before.
        db.run(
            "INSERT INTO search_word (organisation_id, kind, word, record_id)"
            " VALUES (:organisation, 'invoice', '#', :id) ON CONFLICT DO NOTHING",
            id=draft["id"],
        )
    with pytest.raises(NotFound):
        cast.perform(delete_draft_invoice, Role.OFFICE, invoiceId=named, confirmed=True)
    assert cast.perform(get_invoice, invoiceId=draft["id"])["status"] == "draft"


def test_it_leaves_no_gap(cast: Cast) -> None:
    delete_draft(cast, make_invoice(cast))
    assert issue_invoice(cast)["number"] == "INV-0001"


def test_a_preview_deletes_nothing(cast: Cast) -> None:
    draft = make_invoice(cast)
    preview = cast.perform(delete_draft_invoice, Role.OFFICE, invoiceId=draft["id"])
    assert preview["summary"] == "Draft invoice New heating will be deleted."
    assert preview["blockers"] == []
    assert cast.perform(get_invoice, invoiceId=draft["id"])["version"] == draft["version"]


def test_what_has_a_number_stays_in_the_books(cast: Cast) -> None:
    sent = issue_invoice(cast)
    with pytest.raises(Blocked, match=r"^INV-0001 has been issued, so it can't be deleted\. Void or credit it instead"):
        delete_draft(cast, sent)
    for over in (void_issued(cast, sent), credit_issued(cast, issue_invoice(cast))):
        with pytest.raises(Blocked, match=r"has been issued, so it can't be deleted\.$"):
            delete_draft(cast, over)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_delete_none(cast: Cast, role: Role) -> None:
    draft = make_invoice(cast)
    with pytest.raises(Forbidden):
        delete_draft(cast, draft, role)


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, other_cast: Cast) -> None:
    draft = make_invoice(cast)
    with pytest.raises(NotFound):
        delete_draft(other_cast, draft)
    cast.lapse()
    with pytest.raises(Lapsed):
        delete_draft(cast, draft)
