"""A database from before the plainer words gets them, and its rows still match their hashes."""

from contextlib import closing

from mainstay.business.jobs.operations import get_job
from mainstay.composition import connect, open_performer
from mainstay.infrastructure.migrations.apply import migrate
from mainstay.infrastructure.rehashing import hash_rows
from mainstay.infrastructure.row_hashes import find_differences
from mainstay.settings import Settings
from support.cast import make_cast
from support.customers import make_customer, make_job


def test_stored_next_actions_get_their_plainer_words(fresh_settings: Settings) -> None:
    performer = open_performer(fresh_settings)
    cast = make_cast(performer)
    job = make_job(cast, make_customer(cast))["id"]
    with closing(connect(fresh_settings)) as database:
        with database.migration_transaction() as db:
            db.run("UPDATE job SET next_action = 'Quote it or open it'")
            hash_rows(db, "a test")
            db.run("DELETE FROM schema_step WHERE number >= 78")
        assert migrate(database)[0] == "0078_next_actions"
        with database.scan_transaction() as db:
            assert list(find_differences(db.for_organisation(cast.organisation))) == []
    assert cast.perform(get_job, jobId=job)["nextAction"] == "Send a quote or start the job"
    performer.database.close()
