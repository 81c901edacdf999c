"""A server with its files in a bucket, which goes away and comes back."""

from dataclasses import replace
from pathlib import Path

from mainstay.composition import open_performer
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.settings import read_settings
from support.browser_session import BrowserSession, sign_in_new_person
from support.cast import make_cast
from support.command_line import run_command
from support.images import draw_image
from support.raw_http import ORGANISATION, check_refusal
from support.s3_server import SECRET_KEY, RcloneServer
from support.servers import ServerProcess, start_server
from support.uploads import read_logo_address, upload_logo
from support.waiting import wait_until


def find_problem(server: ServerProcess) -> str | None:
    answer = server.request("GET", "/readyz")
    return None if answer.status_code == 200 else check_refusal(answer, 503)


def empty_cache(folder: DataFolder) -> None:
    for path in folder.file_cache.iterdir():
        path.unlink()


def check_refused_upload(session: BrowserSession, address: str) -> None:
    refused = upload_logo(session, draw_image(size=(13, 11)))
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "60")
    assert read_logo_address(session) == address


def test_while_the_bucket_is_away_uploads_are_refused_and_the_rest_goes_on(
    bucket: RcloneServer, tmp_path: Path
) -> None:
    settings = bucket.settings_for(replace(read_settings({}), data=tmp_path / "data", workers=1))
    folder = DataFolder(settings.data)
    performer = open_performer(settings)
    cast = make_cast(performer)
    key = cast.make_key()
    with start_server(settings) as server:
        session = sign_in_new_person(server, cast)
        assert upload_logo(session, draw_image(size=(11, 13))).status_code == 303
        address = read_logo_address(session)
        logo = session.get(address)
        assert (logo.status_code, bucket.path_of(address.rpartition("/")[2]).read_bytes()) == (200, logo.content)
        assert not folder.files.exists()

        bucket.kill()
        # What this machine has already is still shown.
        assert session.get(address).content == logo.content
        empty_cache(folder)
        away = session.get(address)
        assert (away.status_code, away.headers["Retry-After"]) == (503, "60")
        check_refused_upload(session, address)
        assert server.request("GET", ORGANISATION, key).status_code == 200
        wait_until(lambda: find_problem(server) == "The file store cannot be reached.")

        bucket.start()
        wait_until(lambda: find_problem(server) is None)
        assert session.get(address).content == logo.content
        assert upload_logo(session, draw_image(size=(13, 11))).status_code == 303
        output = server.log.read_text()
    performer.database.close()
    assert '"event":"files away"' in output
    assert SECRET_KEY not in output
    assert run_command(settings, "check", "--json").json["sound"] is True
