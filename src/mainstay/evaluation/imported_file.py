"""Imports customers from a file, as the office does."""

from mainstay.business.importing import store
from mainstay.business.importing.import_model import CHECKING, IMPORTING, RunStatus
from mainstay.business.importing.import_run import ImportWork
from mainstay.business.importing.record_kinds import find_import_kinds
from mainstay.business.importing.steps import Pace
from mainstay.kernel.perform import Performer
from mainstay.vocabulary.actor import Actor

_AT_ONCE = Pace(60.0, lambda: None)


def import_customers(performer: Performer, actor: Actor, *rows: dict[str, str]) -> None:
    """Import these rows as customers. Their keys are the headings of the file."""
    kinds = find_import_kinds(performer.catalogue)
    cells = [(number, [*row.values()]) for number, row in enumerate(rows, 2)]
    uploaded = store.NewImport(kinds["customers"], "customers.csv", (), [*rows[0]], cells)
    with performer.database.write_transaction(actor.organisation) as db:
        db.me = actor.id
        import_id = store.insert(db, uploaded, performer.clock())

    def begin(status: RunStatus) -> ImportWork:
        with performer.database.write_transaction(actor.organisation) as db:
            db.me = actor.id
            store.begin_run(db, store.fetch(db, kinds, import_id), status)
            run = store.fetch(db, kinds, import_id)
        return ImportWork(performer, actor, run, None, None, lambda _: None, _AT_ONCE)

    begin(CHECKING).check()
    begin(IMPORTING).import_rows()
