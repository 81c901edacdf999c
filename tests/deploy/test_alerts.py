"""`deploy/alerts.yml`: each alert fires when it should and not on a quiet day, as Prometheus itself evaluates it."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mainstay.infrastructure.database import PoolUsage
from mainstay.infrastructure.metrics import (
    LaneGauges,
    counter_names,
    format_emails,
    format_outbox,
    format_pools,
    format_requests,
    format_timeouts,
    format_waiting_emails,
    format_webhook_attempts,
)
from support.debian_programs import find_program
from support.operator_guide import DEPLOY

ALERTS = DEPLOY / "alerts.yml"
RULES = ALERTS.read_text("utf-8")
ALERT_NAMES = re.findall(r"- alert: (\w+)", RULES)
# Three hours, in the notation of promtool: a first value, and what is added each minute.
MINUTES = 180
QUIET_DAY = {
    'up{job="mainstay",instance="a"}': "1+0",
    'mainstay_outbox_waiting{job="mainstay",instance="a"}': "3+0",
    'mainstay_requests_total{instance="a",route="list_jobs",status="2xx"}': "0+600",
    'mainstay_requests_total{instance="a",route="list_jobs",status="4xx"}': "0+100",
    'mainstay_requests_total{instance="a",route="list_jobs",status="5xx"}': "7+0",
    'mainstay_request_seconds_bucket{instance="a",route="list_jobs",le="0.1"}': "0+600",
    'mainstay_request_seconds_bucket{instance="a",route="list_jobs",le="5"}': "0+610",
    'mainstay_request_seconds_bucket{instance="a",route="list_jobs",le="+Inf"}': "0+610",
    'mainstay_request_seconds_count{instance="a",route="list_jobs"}': "0+610",
    'mainstay_pool_errors_total{instance="a",process="server"}': "2+0",
    'mainstay_pool_wait_seconds_total{instance="a",process="server"}': "5+1",
    'mainstay_change_timeouts_total{instance="a"}': "4+0",
    'mainstay_outbox_late_seconds{instance="a"}': "20+0",
    'mainstay_outbox_parked{instance="a"}': "0+0",
    'mainstay_mails_total{instance="a",outcome="sent"}': "0+2",
    'mainstay_mails_total{instance="a",outcome="failed"}': "0+1",
    'mainstay_webhook_attempts_total{instance="a",outcome="delivered"}': "0+2",
    'mainstay_webhook_attempts_total{instance="a",outcome="failed"}': "0+2",
}
# By alert, the series in which a bad day differs. None: the series is missing.
BAD_DAYS: dict[str, dict[str, str | None]] = {
    "MainstayDown": {'up{job="mainstay",instance="a"}': "0+0"},
    "MainstayDatabaseAway": {'mainstay_outbox_waiting{job="mainstay",instance="a"}': None},
    "MainstayManyErrors": {'mainstay_requests_total{instance="a",route="list_jobs",status="5xx"}': "0+8"},
    "MainstayErrors": {'mainstay_requests_total{instance="a",route="list_jobs",status="5xx"}': "0+1"},
    "MainstaySlow": {'mainstay_request_seconds_bucket{instance="a",route="list_jobs",le="0.1"}': "0+550"},
    "MainstayPoolWaits": {'mainstay_pool_wait_seconds_total{instance="a",process="server"}': "0+40"},
    "MainstayChangesGivenUp": {'mainstay_change_timeouts_total{instance="a"}': "0+1"},
    "MainstayOutboxLate": {'mainstay_outbox_late_seconds{instance="a"}': "400+60"},
    "MainstayTasksParked": {'mainstay_outbox_parked{instance="a"}': "1+0"},
    "MainstayNoEmailSent": {'mainstay_mails_total{instance="a",outcome="sent"}': "9+0"},
    "MainstayNoWebhookDelivered": {'mainstay_webhook_attempts_total{instance="a",outcome="delivered"}': "9+0"},
}
# Alerts that another one brings with it.
FOLLOWING = {"MainstayManyErrors": {"MainstayErrors"}}


def find_metrics() -> set[tuple[str, frozenset[str]]]:
    """The metrics that Mainstay has, as names of samples with the names of their labels."""
    route = ["get_person"]
    text = (
        format_requests(dict.fromkeys(counter_names(route), 1.0), route)
        + format_webhook_attempts({"delivered": 1, "failed": 1})
        + format_emails({"sent": 1, "failed": 1})
        + format_waiting_emails(1, 1, 1)
        + format_outbox({"emails": LaneGauges(1, 1, 1.0)}, 1)
        + format_timeouts(1)
        + format_pools({"server": PoolUsage(1, 1, 1, 1, 1.0, 1)})
    )
    samples = re.findall(r"^([a-z_]+)(?:\{(.*)\})? ", text, re.MULTILINE)
    return {(name, frozenset(re.findall(r'(\w+)="', labels))) for name, labels in samples}


def test_the_rules_and_their_trials_name_metrics_that_exist() -> None:
    metrics = find_metrics()
    assert {*re.findall(r"\bmainstay_\w+", RULES)} <= {name for name, _ in metrics}
    for series in QUIET_DAY:
        name, labels = series.partition("{")[0], {*re.findall(r'(\w+)="', series)}
        if name != "up":
            assert (name, frozenset(labels - {"job", "instance"})) in metrics, series


def test_each_alert_is_tried() -> None:
    assert {*ALERT_NAMES} == BAD_DAYS.keys()


def run_promtool(*words: str | Path) -> None:
    ended = subprocess.run([find_program("promtool"), *words], capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("bad", [None, *BAD_DAYS])
def test_an_alert_fires_on_a_bad_day_and_no_other_does(bad: str | None, tmp_path: Path) -> None:
    series = QUIET_DAY | (BAD_DAYS[bad] if bad else {})
    fires = {bad, *FOLLOWING.get(bad, ())} if bad else set()
    day: dict[str, Any] = {
        "interval": "1m",
        "input_series": [
            {"series": name, "values": f"{values}x{MINUTES}"} for name, values in series.items() if values is not None
        ],
        # Without the labels and sentences of what fires: only whether something does.
        "promql_expr_test": [
            {
                "expr": f'count by (alertname) (ALERTS{{alertstate="firing",alertname="{name}"}})',
                "eval_time": "2h",
                "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1}] if name in fires else [],
            }
            for name in ALERT_NAMES
        ],
    }
    # YAML contains JSON.
    trial = {"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": [day]}
    (tmp_path / "trial.yml").write_text(json.dumps(trial), "utf-8")
    run_promtool("check", "rules", ALERTS)
    run_promtool("test", "rules", tmp_path / "trial.yml")
