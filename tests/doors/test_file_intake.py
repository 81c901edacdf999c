"""Files are stored together with the change that names them, or are removed again."""

from pathlib import Path

import orjson
import pytest

from mainstay.business.records.file_removal import REMOVE_FILE
from mainstay.doors.file_intake import FileIntake
from mainstay.doors.runner import Runner
from mainstay.infrastructure.content_reader import ContentReader
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.file_types import ExaminedFile
from mainstay.infrastructure.files import FileStoreUnavailable, content_name_of
from mainstay.infrastructure.rate_limits import MachineRateLimits
from mainstay.settings import read_settings
from support.cast import Cast
from support.s3_server import RcloneServer


def test_what_was_stored_before_the_store_went_away_is_removed_later(
    cast: Cast, bucket: RcloneServer, tmp_path: Path
) -> None:
    DataFolder(tmp_path).create()
    MachineRateLimits.create(tmp_path / "limits")
    limits, runner = MachineRateLimits(tmp_path / "limits"), Runner(reads_inline=True)
    files = bucket.open_files(read_settings({"MAINSTAY_DATA": str(tmp_path)}))
    intake = FileIntake(cast.performer, runner, files, ContentReader(), limits)
    tries = []

    def perform(*, commit: bool) -> None:
        tries.append(commit)
        bucket.kill()

    with pytest.raises(FileStoreUnavailable):
        intake.store_with(cast.organisation, [ExaminedFile("image/png", b"a photo", b"a small one")], perform)

    assert tries == [False]
    with cast.performer.database.read_transaction(cast.organisation) as db:
        sql = "SELECT payload FROM outbox WHERE organisation_id = :organisation AND kind = :kind"
        queued = {orjson.loads(str(payload))["file"] for (payload,) in db.all(sql, kind=REMOVE_FILE)}
    assert queued == {content_name_of(b"a photo"), content_name_of(b"a small one")}
    runner.threads.close()
    limits.close()
