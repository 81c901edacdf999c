"""Photos and files on the pages of records: added, seen by those who see the record, opened safely, removed."""

import pytest

from mainstay.business.jobs.operations import update_job
from mainstay.business.records.attachments import MAX_FILE_BYTES, list_documents
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.files import FolderFileStore, content_name_of
from mainstay.vocabulary.permissions import Role
from support import hostile
from support.attachments import PDF, AttachmentJobs, add_file, make_attachment_jobs, make_zip
from support.browser_session import BrowserSession, sign_in_new_person, visible_text
from support.cast import Cast
from support.images import draw_image, open_image
from support.oauth_app import hidden_value
from support.servers import RunningServer
from support.uploads import MULTIPART, list_temporary_files, make_multipart, make_part


@pytest.fixture
def work(cast: Cast) -> AttachmentJobs:
    return make_attachment_jobs(cast)


def send_files(
    session: BrowserSession, record: str, *files: tuple[str, bytes], office: bool = False, tokens: str = ""
) -> tuple[int, str]:
    """Add files, as the form on a job's page does; the status, and where it leads or what it says."""
    page = tokens or session.get("/jobs/" + record).text
    fields = {name: hidden_value(page, name) for name in ("csrf", "once")} | {"recordId": record}
    parts = [make_part(name, value.encode()) for name, value in fields.items()]
    parts += [make_part("files", content, called) for called, content in files]
    parts += [make_part("photo", b"", "")]
    parts += [make_part("visibility", b"office")] if office else []
    before = set(list_temporary_files(session.server))
    answer = session.send_body("/documents", make_multipart(*parts), Content_Type=MULTIPART)
    assert set(list_temporary_files(session.server)) <= before
    return answer.status_code, answer.headers.get("location") or visible_text(answer.text)


def documents_of(cast: Cast, record: str) -> list[dict[str, object]]:
    return list(cast.perform(list_documents, recordId=record)["data"])


def test_photos_and_files_are_added_at_once_and_stand_on_the_page(
    server: RunningServer, cast: Cast, work: AttachmentJobs
) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    sent = send_files(orla, work.job, ("meter.jpg", draw_image("JPEG", (3000, 1500))), ("C:\\Plans\\Größe.pdf", PDF))
    assert sent == (303, f"/jobs/{work.job}?done=add_document#files")
    plan, meter = documents_of(cast, work.job)
    assert (plan["name"], plan["kind"], plan["mediaType"]) == ("Größe.pdf", "file", "application/pdf")
    assert (meter["name"], meter["kind"]) == ("meter.jpg", "photo")

    page = orla.get(f"/jobs/{work.job}?done=add_document").text
    assert "File added." in visible_text(page)
    assert f'src="/documents/{meter["id"]}/thumbnail"' in page
    assert "Größe.pdf" in visible_text(page)
    small = orla.get(f"/documents/{meter['id']}/thumbnail")
    assert (small.headers["content-type"], open_image(small.content).size) == ("image/jpeg", (320, 160))
    large = orla.get(f"/documents/{meter['id']}/file")
    assert (open_image(large.content).size, large.headers["content-disposition"][:6]) == ((2400, 1200), "inline")
    shown = visible_text(orla.get(f"/documents/{meter['id']}").text)
    assert "meter.jpg" in shown
    assert "Replace the boiler" in shown


def test_a_file_is_handed_out_so_that_no_browser_takes_it_for_a_page(
    server: RunningServer, cast: Cast, work: AttachmentJobs
) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    assert send_files(orla, work.job, ("page.html", b"<script>alert(1)</script>"))[0] == 303
    [added] = documents_of(cast, work.job)
    answer = orla.get(f"/documents/{added['id']}/file")
    assert answer.content == b"<script>alert(1)</script>"
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["content-disposition"].startswith('attachment; filename="page.html.txt"')
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"
    assert orla.get(f"/documents/{added['id']}/thumbnail").status_code == 404


def test_it_is_for_those_who_see_the_record_each_time(
    server: RunningServer, cast: Cast, other_cast: Cast, work: AttachmentJobs
) -> None:
    content = FolderFileStore(DataFolder(server.settings.data).files).store(PDF)
    seen, hidden_one = (
        add_file(cast, work.job, content=content),
        add_file(cast, work.job, content=content, visibility="office"),
    )
    sam = sign_in_new_person(server, cast, Role.SUBCONTRACTOR)
    # The subcontractor is new, and not on the job yet.
    assert sam.get(f"/documents/{seen['id']}/file").status_code == 404
    me = sam.get("/").text
    assert me
    cast.perform(update_job, jobId=work.job, assigned=[_find_newest_person(cast)])
    assert sam.get(f"/documents/{seen['id']}/file").content == PDF
    for path in ("", "/file", "/thumbnail", "/remove"):
        assert sam.get(f"/documents/{hidden_one['id']}{path}").status_code == 404
        assert sign_in_new_person(server, other_cast).get(f"/documents/{seen['id']}{path}").status_code == 404
        assert BrowserSession(server).get(f"/documents/{seen['id']}{path}").status_code == 303
    page = sam.get(f"/jobs/{work.job}").text
    assert seen["id"] in page
    assert hidden_one["id"] not in page
    cast.perform(update_job, jobId=work.job, assigned=[])
    assert sam.get(f"/documents/{seen['id']}/file").status_code == 404


def _find_newest_person(cast: Cast) -> str:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        row = db.one("SELECT id FROM person WHERE organisation_id = :organisation ORDER BY id DESC LIMIT 1")
    assert row
    return str(row[0])


def test_what_is_for_the_office_says_so(server: RunningServer, cast: Cast, work: AttachmentJobs) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    assert send_files(orla, work.job, ("plan.pdf", PDF), office=True)[0] == 303
    assert documents_of(cast, work.job)[0]["visibility"] == "office"
    assert "office only" in visible_text(orla.get(f"/jobs/{work.job}").text)


@pytest.mark.parametrize(
    ("called", "content", "told"),
    [
        ("photo.jpg", b"not a picture\x00", "photo.jpg: ends in .jpg but is not that kind of picture"),
        ("photo.jpg", draw_image("JPEG", (400, 400))[:700], "photo.jpg: is not a PNG or JPEG picture"),
        ("IMG_1.HEIC", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "IMG_1.HEIC: is a HEIC or AVIF photo"),
        ("files.zip", make_zip(a_txt=b"a"), "files.zip: is not an accepted type of archive"),
        ("empty.pdf", b"", "empty.pdf: is empty"),
    ],
)
def test_one_that_is_not_taken_takes_back_all(
    server: RunningServer, cast: Cast, work: AttachmentJobs, called: str, content: bytes, told: str
) -> None:
    status, said = send_files(sign_in_new_person(server, cast), work.job, ("plan.pdf", PDF), (called, content))
    assert (status, "Files not added" in said, told in said) == (422, True, True), said
    assert documents_of(cast, work.job) == []


def test_a_photo_that_takes_long_to_draw_is_refused(server: RunningServer, cast: Cast, work: AttachmentJobs) -> None:
    sam = sign_in_new_person(server, cast, Role.SUBCONTRACTOR)
    cast.perform(update_job, jobId=work.job, assigned=[_find_newest_person(cast)])
    status, text = send_files(sam, work.job, ("boiler.jpg", hostile.make_jpeg_with_repeated_scan(800, 600, 500)))
    assert status == 422
    assert "boiler.jpg: takes too long to draw. Open it in another program and save it again" in text
    assert documents_of(cast, work.job) == []


def test_too_many_or_too_large_are_told_so(server: RunningServer, cast: Cast, work: AttachmentJobs) -> None:
    olivia = sign_in_new_person(server, cast)
    status, said = send_files(olivia, work.job, *[("plan.pdf", PDF)] * 11)
    assert (status, "up to 10 files" in said) == (413, True)
    status, said = send_files(olivia, work.job, ("plan.pdf", b"%PDF-" + bytes(MAX_FILE_BYTES)))
    assert (status, "larger than 15 MB" in said) == (413, True)
    status, said = send_files(olivia, work.job)
    assert (status, "Choose a file first." in said) == (422, True)
    assert documents_of(cast, work.job) == []


def test_a_form_that_is_sent_again_counts_once(server: RunningServer, cast: Cast, work: AttachmentJobs) -> None:
    olivia = sign_in_new_person(server, cast)
    page = olivia.get(f"/jobs/{work.job}").text
    for _ in range(2):
        assert send_files(olivia, work.job, ("a.pdf", PDF), ("b.txt", b"b"), tokens=page)[0] == 303
    assert [one["name"] for one in documents_of(cast, work.job)] == ["b.txt", "a.pdf"]


def test_a_record_that_one_does_not_see_takes_nothing(
    server: RunningServer, cast: Cast, other_cast: Cast, work: AttachmentJobs
) -> None:
    olivia = sign_in_new_person(server, cast)
    page = olivia.get(f"/jobs/{work.job}").text
    kept = DataFolder(server.settings.data).files
    before = {*kept.rglob("*")}
    for record in (make_attachment_jobs(other_cast).job, "job_nothing", "", "org"):
        assert send_files(olivia, record, ("plan.pdf", PDF + record.encode()), tokens=page)[0] == 404
    assert {*kept.rglob("*")} == before


def test_it_is_removed_after_a_look_at_what_happens(server: RunningServer, cast: Cast, work: AttachmentJobs) -> None:
    olivia = sign_in_new_person(server, cast)
    send_files(olivia, work.job, ("plan.pdf", PDF))
    [added] = documents_of(cast, work.job)
    path = f"/documents/{added['id']}"
    page = olivia.get(f"{path}/remove")
    assert "plan.pdf will be removed for everyone" in visible_text(page.text)
    answer = olivia.submit_page(page.text, f"{path}/remove", confirmed="yes")
    assert answer.headers["location"] == f"/jobs/{work.job}?done=remove_document"
    assert "File removed." in visible_text(olivia.follow_redirect(answer).text)
    assert olivia.get(f"{path}/file").status_code == 404


def test_while_lapsed_they_are_seen_and_none_is_added(server: RunningServer, cast: Cast, work: AttachmentJobs) -> None:
    olivia = sign_in_new_person(server, cast)
    send_files(olivia, work.job, ("plan.pdf", PDF))
    [added] = documents_of(cast, work.job)
    page = olivia.get(f"/jobs/{work.job}").text
    cast.lapse()
    assert olivia.get(f"/documents/{added['id']}/file").content == PDF
    assert send_files(olivia, work.job, ("plan.pdf", PDF), tokens=page)[0] == 402
    assert "data-drop" not in olivia.get(f"/jobs/{work.job}").text


def test_a_file_that_was_not_brought_along_is_not_found(
    server: RunningServer, cast: Cast, work: AttachmentJobs
) -> None:
    added = add_file(cast, work.job, content="3" * 64)
    assert sign_in_new_person(server, cast).get(f"/documents/{added['id']}/file").status_code == 404


def fill_storage(cast: Cast, bytes_left: int) -> None:
    """Let an organisation have so many bytes left of what it may store."""
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run(
            "UPDATE organisation SET storage_bytes = :used WHERE id = :organisation", used=50_000_000_000 - bytes_left
        )


def test_what_does_not_fit_any_more_is_refused_and_leaves_nothing_behind(
    server: RunningServer, cast: Cast, work: AttachmentJobs
) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    content = PDF + b"%this is not stored anywhere else"
    fill_storage(cast, len(content) - 1)
    status, text = send_files(orla, work.job, ("Plan.pdf", content + b"\n%%EOF"))
    assert status == 409
    assert "Not enough storage: with this file you would use 50.0 GB of 50.0 GB." in text
    assert documents_of(cast, work.job) == []
    assert not DataFolder(server.settings.data).files.joinpath(*_path_parts(content + b"\n%%EOF")).exists()
    fill_storage(cast, 10_000)
    assert send_files(orla, work.job, ("Plan.pdf", content + b"\n%%EOF"))[0] == 303


def _path_parts(content: bytes) -> tuple[str, str]:
    name = content_name_of(content)
    return name[:2], name[2:]


def test_owners_and_admins_see_what_is_used(server: RunningServer, cast: Cast, work: AttachmentJobs) -> None:
    olivia = sign_in_new_person(server, cast)
    assert "Photos, files and the logo use 0 GB of 50.0 GB." in visible_text(olivia.get("/settings/export").text)
    assert (
        send_files(
            sign_in_new_person(server, cast, Role.OFFICE), work.job, ("meter.jpg", draw_image("JPEG", (900, 600)))
        )[0]
        == 303
    )
    with cast.performer.database.read_transaction(cast.organisation) as db:
        counted = db.one(
            "SELECT storage_bytes, (SELECT bytes + thumbnail_bytes FROM document WHERE organisation_id = :organisation)"
            " FROM organisation WHERE id = :organisation"
        )
    assert counted
    assert counted[0] == counted[1]
    assert f"use {int(counted[0] or 0) // 1000} KB of 50.0 GB." in visible_text(olivia.get("/settings/export").text)
