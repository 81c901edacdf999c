"""Photos and files on the pages of records: added, seen by those who see the record, opened safely, removed."""

import pytest

from apps import hidden
from cast import Cast
from filing import PDF, Work, add, archive, work_of
from mainstay.backing.files import Files, name_of
from mainstay.backing.folder import DataFolder
from mainstay.business.jobs.operations import update_job
from mainstay.business.records.documents import MOST_BYTES, list_documents
from mainstay.terms.rights import Role
from pictures import drawn, opened
from running import RunningServer
from support import hostile
from uploading import MULTIPART, left_behind, multipart, part
from visiting import Visit, visit, words


@pytest.fixture
def work(cast: Cast) -> Work:
    return work_of(cast)


def send(
    visiting: Visit, record: str, *files: tuple[str, bytes], office: bool = False, tokens: str = ""
) -> tuple[int, str]:
    """Add files, as the form on a job's page does; the status, and where it leads or what it says."""
    page = tokens or visiting.get("/jobs/" + record).text
    fields = {name: hidden(page, name) for name in ("csrf", "once")} | {"recordId": record}
    parts = [part(name, value.encode()) for name, value in fields.items()]
    parts += [part("files", content, called) for called, content in files]
    parts += [part("photo", b"", "")]
    parts += [part("visibility", b"office")] if office else []
    before = set(left_behind(visiting.server))
    answer = visiting.send("/documents", multipart(*parts), Content_Type=MULTIPART)
    assert set(left_behind(visiting.server)) <= before
    return answer.status_code, answer.headers.get("location") or words(answer.text)


def listed(cast: Cast, record: str) -> list[dict[str, object]]:
    return list(cast.perform(list_documents, recordId=record)["data"])


def test_photos_and_files_are_added_at_once_and_stand_on_the_page(
    server: RunningServer, cast: Cast, work: Work
) -> None:
    orla = visit(server, cast, Role.OFFICE)
    sent = send(orla, work.job, ("meter.jpg", drawn("JPEG", (3000, 1500))), ("C:\\Plans\\Größe.pdf", PDF))
    assert sent == (303, f"/jobs/{work.job}?done=add_document#files")
    plan, meter = listed(cast, work.job)
    assert (plan["name"], plan["kind"], plan["mediaType"]) == ("Größe.pdf", "file", "application/pdf")
    assert (meter["name"], meter["kind"]) == ("meter.jpg", "photo")

    page = orla.get(f"/jobs/{work.job}?done=add_document").text
    assert "The file is added." in words(page)
    assert f'src="/documents/{meter["id"]}/thumbnail"' in page
    assert "Größe.pdf" in words(page)
    small = orla.get(f"/documents/{meter['id']}/thumbnail")
    assert (small.headers["content-type"], opened(small.content).size) == ("image/jpeg", (320, 160))
    large = orla.get(f"/documents/{meter['id']}/file")
    assert (opened(large.content).size, large.headers["content-disposition"][:6]) == ((2400, 1200), "inline")
    shown = words(orla.get(f"/documents/{meter['id']}").text)
    assert "meter.jpg" in shown
    assert "Replace the boiler" in shown


def test_a_file_is_handed_out_so_that_no_browser_takes_it_for_a_page(
    server: RunningServer, cast: Cast, work: Work
) -> None:
    orla = visit(server, cast, Role.OFFICE)
    assert send(orla, work.job, ("page.html", b"<script>alert(1)</script>"))[0] == 303
    [added] = listed(cast, work.job)
    answer = orla.get(f"/documents/{added['id']}/file")
    assert answer.content == b"<script>alert(1)</script>"
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["content-disposition"].startswith('attachment; filename="page.html.txt"')
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"
    assert orla.get(f"/documents/{added['id']}/thumbnail").status_code == 404


def test_it_is_for_those_who_see_the_record_each_time(
    server: RunningServer, cast: Cast, stranger: Cast, work: Work
) -> None:
    content = Files(DataFolder(server.settings.data).files).keep(PDF)
    seen, hidden_one = add(cast, work.job, content=content), add(cast, work.job, content=content, visibility="office")
    sam = visit(server, cast, Role.SUBCONTRACTOR)
    # Whoever visits is a new person of the role, who is not on the job yet.
    assert sam.get(f"/documents/{seen['id']}/file").status_code == 404
    me = sam.get("/").text
    assert me
    cast.perform(update_job, jobId=work.job, assigned=[_newest(cast)])
    assert sam.get(f"/documents/{seen['id']}/file").content == PDF
    for path in ("", "/file", "/thumbnail", "/remove"):
        assert sam.get(f"/documents/{hidden_one['id']}{path}").status_code == 404
        assert visit(server, stranger).get(f"/documents/{seen['id']}{path}").status_code == 404
        assert Visit(server).get(f"/documents/{seen['id']}{path}").status_code == 303
    page = sam.get(f"/jobs/{work.job}").text
    assert seen["id"] in page
    assert hidden_one["id"] not in page
    cast.perform(update_job, jobId=work.job, assigned=[])
    assert sam.get(f"/documents/{seen['id']}/file").status_code == 404


def _newest(cast: Cast) -> str:
    with cast.stage.database.reading(cast.organisation) as rows:
        row = rows.one("SELECT id FROM person WHERE organisation_id = :organisation ORDER BY id DESC LIMIT 1")
    assert row
    return str(row[0])


def test_what_is_for_the_office_says_so(server: RunningServer, cast: Cast, work: Work) -> None:
    orla = visit(server, cast, Role.OFFICE)
    assert send(orla, work.job, ("plan.pdf", PDF), office=True)[0] == 303
    assert listed(cast, work.job)[0]["visibility"] == "office"
    assert "for the office only" in words(orla.get(f"/jobs/{work.job}").text)


@pytest.mark.parametrize(
    ("called", "content", "told"),
    [
        ("photo.jpg", b"not a picture\x00", "photo.jpg: is called .jpg and is no such picture"),
        ("photo.jpg", drawn("JPEG", (400, 400))[:700], "photo.jpg: is not a PNG or JPEG picture"),
        ("IMG_1.HEIC", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "IMG_1.HEIC: is a HEIC or AVIF photo"),
        ("files.zip", archive(a_txt=b"a"), "files.zip: is an archive of another kind"),
        ("empty.pdf", b"", "empty.pdf: is empty"),
    ],
)
def test_one_that_is_not_taken_takes_back_all(
    server: RunningServer, cast: Cast, work: Work, called: str, content: bytes, told: str
) -> None:
    status, said = send(visit(server, cast), work.job, ("plan.pdf", PDF), (called, content))
    assert (status, "Nothing was added" in said, told in said) == (422, True, True), said
    assert listed(cast, work.job) == []


def test_a_photo_that_takes_long_to_draw_is_refused(server: RunningServer, cast: Cast, work: Work) -> None:
    sam = visit(server, cast, Role.SUBCONTRACTOR)
    cast.perform(update_job, jobId=work.job, assigned=[_newest(cast)])
    status, told = send(sam, work.job, ("boiler.jpg", hostile.jpeg_with_repeated_scan(800, 600, 500)))
    assert status == 422
    assert "boiler.jpg: takes too long to draw. Open it in another program and save it anew" in told
    assert listed(cast, work.job) == []


def test_too_many_or_too_large_are_told_so(server: RunningServer, cast: Cast, work: Work) -> None:
    olivia = visit(server, cast)
    status, said = send(olivia, work.job, *[("plan.pdf", PDF)] * 11)
    assert (status, "At most 10 files" in said) == (413, True)
    status, said = send(olivia, work.job, ("plan.pdf", b"%PDF-" + bytes(MOST_BYTES)))
    assert (status, "larger than 15 MB" in said) == (413, True)
    status, said = send(olivia, work.job)
    assert (status, "Choose one first" in said) == (422, True)
    assert listed(cast, work.job) == []


def test_a_form_that_is_sent_again_counts_once(server: RunningServer, cast: Cast, work: Work) -> None:
    olivia = visit(server, cast)
    page = olivia.get(f"/jobs/{work.job}").text
    for _ in range(2):
        assert send(olivia, work.job, ("a.pdf", PDF), ("b.txt", b"b"), tokens=page)[0] == 303
    assert [one["name"] for one in listed(cast, work.job)] == ["b.txt", "a.pdf"]


def test_a_record_that_one_does_not_see_takes_nothing(
    server: RunningServer, cast: Cast, stranger: Cast, work: Work
) -> None:
    olivia = visit(server, cast)
    page = olivia.get(f"/jobs/{work.job}").text
    kept = DataFolder(server.settings.data).files
    before = {*kept.rglob("*")}
    for record in (work_of(stranger).job, "job_nothing", "", "org"):
        assert send(olivia, record, ("plan.pdf", PDF + record.encode()), tokens=page)[0] == 404
    assert {*kept.rglob("*")} == before


def test_it_is_removed_after_a_look_at_what_happens(server: RunningServer, cast: Cast, work: Work) -> None:
    olivia = visit(server, cast)
    send(olivia, work.job, ("plan.pdf", PDF))
    [added] = listed(cast, work.job)
    path = f"/documents/{added['id']}"
    page = olivia.get(f"{path}/remove")
    assert "plan.pdf is no longer on the record's page" in words(page.text)
    answer = olivia.answer(page.text, f"{path}/remove", confirmed="yes")
    assert answer.headers["location"] == f"/jobs/{work.job}?done=remove_document"
    assert "The file is removed." in words(olivia.follow(answer).text)
    assert olivia.get(f"{path}/file").status_code == 404


def test_while_lapsed_they_are_seen_and_none_is_added(server: RunningServer, cast: Cast, work: Work) -> None:
    olivia = visit(server, cast)
    send(olivia, work.job, ("plan.pdf", PDF))
    [added] = listed(cast, work.job)
    page = olivia.get(f"/jobs/{work.job}").text
    cast.lapse()
    assert olivia.get(f"/documents/{added['id']}/file").content == PDF
    assert send(olivia, work.job, ("plan.pdf", PDF), tokens=page)[0] == 402
    assert "data-drop" not in olivia.get(f"/jobs/{work.job}").text


def test_a_file_that_was_not_brought_along_is_not_found(server: RunningServer, cast: Cast, work: Work) -> None:
    added = add(cast, work.job, content="3" * 64)
    assert visit(server, cast).get(f"/documents/{added['id']}/file").status_code == 404


def fill(cast: Cast, left: int) -> None:
    """Let an organisation have so many bytes left of what it may store."""
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run("UPDATE organisation SET storage_bytes = :used WHERE id = :organisation", used=50_000_000_000 - left)


def test_what_does_not_fit_any_more_is_refused_and_leaves_nothing_behind(
    server: RunningServer, cast: Cast, work: Work
) -> None:
    orla = visit(server, cast, Role.OFFICE)
    content = PDF + b"%this is not stored anywhere else"
    fill(cast, len(content) - 1)
    status, told = send(orla, work.job, ("Plan.pdf", content + b"\n%%EOF"))
    assert status == 409
    assert "There is no room for it: with it, 50.0 GB would be used, and 50.0 GB are available." in told
    assert listed(cast, work.job) == []
    assert not DataFolder(server.settings.data).files.joinpath(*_place(content + b"\n%%EOF")).exists()
    fill(cast, 10_000)
    assert send(orla, work.job, ("Plan.pdf", content + b"\n%%EOF"))[0] == 303


def _place(content: bytes) -> tuple[str, str]:
    name = name_of(content)
    return name[:2], name[2:]


def test_owners_and_admins_see_what_is_used(server: RunningServer, cast: Cast, work: Work) -> None:
    olivia = visit(server, cast)
    assert "0 GB of 50.0 GB used by photos, files and the logo." in words(olivia.get("/settings/export").text)
    assert send(visit(server, cast, Role.OFFICE), work.job, ("meter.jpg", drawn("JPEG", (900, 600))))[0] == 303
    with cast.stage.database.reading(cast.organisation) as rows:
        counted = rows.one(
            "SELECT storage_bytes, (SELECT bytes + thumbnail_bytes FROM document WHERE organisation_id = :organisation)"
            " FROM organisation WHERE id = :organisation"
        )
    assert counted
    assert counted[0] == counted[1]
    assert f"{int(counted[0] or 0) // 1000} KB of 50.0 GB used" in words(olivia.get("/settings/export").text)
