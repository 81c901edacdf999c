"""Settings: defaults, each wrong one named in a sentence, and the way they reach other processes."""

import os
import re
from dataclasses import fields, replace
from ipaddress import ip_network
from pathlib import Path

import pytest

from mainstay.infrastructure.email_sending import OutgoingEmail, create_email_transport
from mainstay.settings import (
    DESCRIPTIONS,
    PREFIX,
    SettingError,
    Settings,
    parse_s3_address,
    read_settings,
    to_environment,
)


def test_without_any_setting_there_are_defaults() -> None:
    settings = read_settings({})

    assert settings.data == Path("data")
    assert settings.database is None
    assert (settings.pool_size, settings.prepare_statements) == (18, "auto")
    assert settings.redis is None
    assert settings.base_url == "http://127.0.0.1:8000"
    assert (settings.host, settings.port) == ("127.0.0.1", 8000)
    assert settings.workers == os.cpu_count()
    assert settings.smtp is None
    assert settings.trusted_proxies == ()
    assert settings.webhook_private_addresses == "refuse"
    assert settings.metrics is None
    assert settings.storage_per_organisation == 50


def test_every_setting_has_a_meaning_and_no_other_has() -> None:
    assert set(DESCRIPTIONS) == {field.name for field in fields(Settings)}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("data", "/srv/mainstay", Path("/srv/mainstay")),
        ("database", "postgresql://user@host/name", "postgresql://user@host/name"),
        ("database", "postgres:///name?host=/run", "postgres:///name?host=/run"),
        ("pool_size", "6", 6),
        ("prepare_statements", "off", "off"),
        ("redis", "redis://host:6379/1", "redis://host:6379/1"),
        ("redis", "rediss://:secret@host", "rediss://:secret@host"),
        ("base_url", "https://Office.Example/", "https://office.example"),
        ("base_url", "http://localhost:9000", "http://localhost:9000"),
        ("base_url", "http://[::1]:9000", "http://[::1]:9000"),
        ("host", "0.0.0.0", "0.0.0.0"),
        ("host", "localhost", "127.0.0.1"),
        ("host", "::1", "::1"),
        ("port", "80", 80),
        ("port", "65535", 65535),
        ("workers", "1", 1),
        ("smtp", "smtp://user:p%40ss@host:25", "smtp://user:p%40ss@host:25"),
        ("smtp", "smtps://[::1]", "smtps://[::1]"),
        ("mail_from", "office@hartley.example", "office@hartley.example"),
        ("mail_from", "Hartley & Söhne <office@hartley.example>", "Hartley & Söhne <office@hartley.example>"),
        ("mail_from", '"Hartley, Sons" <o.h+x@mail.hartley.example>', '"Hartley, Sons" <o.h+x@mail.hartley.example>'),
        ("trusted_proxies", "10.0.0.1", (ip_network("10.0.0.1/32"),)),
        ("trusted_proxies", "10.0.0.0/8, ::1", (ip_network("10.0.0.0/8"), ip_network("::1/128"))),
        ("webhook_private_addresses", "allow", "allow"),
        ("metrics", "127.0.0.1:9100", "127.0.0.1:9100"),
        ("storage_per_organisation", "200", 200),
    ],
)
def test_a_setting_is_read_from_the_environment(name: str, text: str, value: object) -> None:
    settings = read_settings({PREFIX + name.upper(): f" {text} "})

    assert getattr(settings, name) == value


def test_a_bucket_is_at_amazon_unless_its_address_says_otherwise() -> None:
    assert parse_s3_address("s3://files") == ("https://s3.us-east-1.amazonaws.com", "us-east-1", "files", "")
    text = "s3://files/firm/a?endpoint=http://127.0.0.1:9000/&region=eu-west-2"
    assert parse_s3_address(text) == ("http://127.0.0.1:9000", "eu-west-2", "files", "firm/a")


def test_a_bucket_needs_its_keys_and_nobody_sees_the_secret_one() -> None:
    bucket = {"MAINSTAY_FILES": "s3://files", "MAINSTAY_FILES_ACCESS_KEY": "the key"}
    with pytest.raises(SettingError, match="MAINSTAY_FILES_SECRET_KEY"):
        read_settings(bucket)
    settings = read_settings({**bucket, "MAINSTAY_FILES_SECRET_KEY": "not for anyone's eyes"})
    assert "not for anyone" not in repr(settings)
    assert read_settings(to_environment(settings)) == settings
    assert read_settings({"MAINSTAY_FILES": "folder"}).files is None


def test_an_empty_setting_is_no_setting() -> None:
    assert read_settings({PREFIX + name.upper(): " " for name in DESCRIPTIONS}) == read_settings({})


def test_the_base_address_follows_host_and_port() -> None:
    assert read_settings({"MAINSTAY_PORT": "81"}).base_url == "http://127.0.0.1:81"
    assert read_settings({"MAINSTAY_HOST": "::1", "MAINSTAY_PORT": "81"}).base_url == "http://[::1]:81"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("database", "mysql://host/name"),
        ("database", "name"),
        ("pool_size", "5"),
        ("pool_size", "19"),
        ("prepare_statements", "sometimes"),
        ("redis", "host:6379"),
        ("files", "files"),
        ("files", "https://bucket"),
        ("files", "s3://"),
        ("files", "s3://[::1"),
        ("files", "s3://bucket/../other"),
        ("files", "s3://key:secret@bucket"),
        ("files", "s3://bucket?endpoint=host"),
        ("files", "s3://bucket?region=EU West"),
        ("files", "s3://bucket?secret=key"),
        ("files", "s3://bucket?endpoint"),
        ("redis", "redis://"),
        ("redis", "redis://host:port"),
        ("redis", "redis://host:99999"),
        ("base_url", "office.example"),
        ("base_url", "ftp://office.example"),
        ("base_url", "https://office.example/path"),
        ("base_url", "https://office.example?x=1"),
        ("base_url", "https://user@office.example"),
        ("base_url", "https://office.example:99999"),
        ("base_url", "https://office.example:0"),
        ("base_url", 'https://office"example'),
        ("base_url", "https://office,example"),
        ("base_url", "https://öffice.example"),
        ("base_url", "https://[::1"),
        ("base_url", "https://"),
        ("host", "office.example"),
        ("host", "300.1.1.1"),
        ("port", "0"),
        ("port", "65536"),
        ("port", "-1"),
        ("port", "80.0"),
        ("port", "eighty"),
        ("workers", "0"),
        ("workers", "513"),
        ("workers", "many"),
        ("smtp", "host"),
        ("smtp", "smtp://"),
        ("smtp", "smtp://user@:25"),
        ("smtp", "smtp://host:port"),
        ("smtp", "smtp://host:99999"),
        ("smtp", "smtp://host:0"),
        ("smtp", "smtp://[::1"),
        ("redis", "redis://host:0"),
        ("database", "postgresql://[::1"),
        ("database", "postgresql://host:0/mainstay"),
        ("metrics", "127.0.0.1:0"),
        ("storage_per_organisation", "0"),
        ("storage_per_organisation", "1.5"),
        ("base_url", "http://[::1"),
        ("base_url", "http://[1::2::3]"),
        ("base_url", "http://office..example"),
        ("base_url", "http://office.example."),
        ("base_url", "http://-office.example"),
        ("base_url", f"http://{'a' * 64}.example"),
        ("base_url", f"http://{'.'.join(['a' * 60] * 5)}"),
        ("data", "\udcff"),
        ("secret", "\udcff" * 40),
        ("mail_from", "office@-hartley.example"),
        ("mail_from", f"office@{'a' * 64}.example"),
        ("mail_from", f"{'a' * 65}@hartley.example"),
        ("mail_from", "Hartley"),
        ("mail_from", "Hartley, Sons <office@hartley.example>"),
        ("mail_from", "office@hartley.example, other@hartley.example"),
        ("mail_from", "office@@hartley.example"),
        ("mail_from", "office..x@hartley.example"),
        ("mail_from", "office@hartley.example."),
        ("mail_from", "office@hartley..example"),
        ("mail_from", "öffice@hartley.example"),
        ("mail_from", "Hartley <office@hartley.example> x"),
        ("mail_from", "Hartley\nBcc: x <office@hartley.example>"),
        ("trusted_proxies", "proxy.example"),
        ("trusted_proxies", "10.0.0.1,"),
        ("trusted_proxies", "10.0.0.1/8"),
        ("metrics", "9100"),
        ("metrics", ":9100"),
        ("metrics", "127.0.0.1:"),
        ("metrics", "127.0.0.1:port"),
        ("metrics", "127.0.0.1:99999"),
    ],
)
def test_a_wrong_setting_is_named_in_one_sentence(name: str, text: str) -> None:
    with pytest.raises(SettingError) as caught:
        read_settings({PREFIX + name.upper(): text})

    sentence = str(caught.value)
    assert re.fullmatch(rf"MAINSTAY_{name.upper()} must (be|begin with) [^\n]+\.", sentence)
    assert "secret" not in sentence


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("MAINSTAY_SMPT", "MAINSTAY_SMTP"),
        ("MAINSTAY_BASEURL", "MAINSTAY_BASE_URL"),
        ("MAINSTAY_DATABASE_URL", "MAINSTAY_DATABASE"),
        ("MAINSTAY_port", "MAINSTAY_PORT"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_known_one(name: str, meant: str) -> None:
    with pytest.raises(SettingError) as caught:
        read_settings({name: "x", "OTHER_NAME": "x"})
    assert str(caught.value) == f"{name} is not a setting of Mainstay. The nearest one is {meant}."
    # What is empty was meant to be something, too.
    with pytest.raises(SettingError, match="is not a setting of Mainstay"):
        read_settings({name: ""})
    assert read_settings({"MAINSTAY_KEY": "what the examples of the reference use"}) == read_settings({})


@pytest.mark.parametrize("name", ["MAINSTAY_FOO", "MAINSTAY_PROXY", "MAINSTAY_"])
def test_a_name_that_is_near_none_is_refused_with_where_to_find_them(name: str) -> None:
    with pytest.raises(SettingError) as caught:
        read_settings({name: "x"})
    hint = "`mainstay serve --help` tells those there are: a flag --base-url is MAINSTAY_BASE_URL."
    assert str(caught.value) == f"{name} is not a setting of Mainstay. {hint}"


@pytest.mark.parametrize(
    "address",
    [
        "http://[::1]:8080",
        "http://[::ffff:192.0.2.1]",
        "http://127.0.0.1:8000",
        "http://localhost",
        "https://a-b.example",
        f"https://{'.'.join(['a' * 61] * 3)}.{'b' * 59}",
        f"https://{'a' * 63}.example",
    ],
)
def test_every_base_address_that_is_taken_is_one_that_mails_come_from(address: str, tmp_path: Path) -> None:
    settings = read_settings({"MAINSTAY_BASE_URL": address})
    message = OutgoingEmail("mail_1", "ruth@hartley.example", "Hello", "Hello.")
    create_email_transport(None, tmp_path, settings.sender).send(message)
    assert (tmp_path / "mail_1.eml").exists()


def test_mails_come_from_the_host_of_the_base_address_unless_said_otherwise() -> None:
    assert read_settings({"MAINSTAY_HOST": "::1"}).sender == "Mainstay <no-reply@[IPv6:::1]>"
    assert read_settings({"MAINSTAY_BASE_URL": "https://office.example"}).sender == "Mainstay <no-reply@office.example>"
    assert read_settings({"MAINSTAY_MAIL_FROM": "a@b.example"}).sender == "a@b.example"


@pytest.mark.parametrize(
    "sender", ["a@b.example", "Ann, whoever <a@b.example>", '"Ann, B." <a@b.example>', "Zoë <z@b.example>"]
)
def test_what_is_taken_for_a_sender_is_one(sender: str, tmp_path: Path) -> None:
    try:
        accepted = read_settings({"MAINSTAY_MAIL_FROM": sender}).sender
    except SettingError:
        with pytest.raises(ValueError, match="sender"):
            create_email_transport(None, tmp_path, sender)
    else:
        assert create_email_transport(None, tmp_path, accepted)


def test_another_process_reads_the_same_settings() -> None:
    settings = replace(
        read_settings({}),
        data=Path("/srv/mainstay"),
        database="postgresql://host/name",
        base_url="https://office.example",
        workers=3,
        trusted_proxies=(ip_network("10.0.0.0/8"), ip_network("::1/128")),
    )

    assert read_settings(to_environment(settings)) == settings
    assert read_settings(to_environment(read_settings({}))) == read_settings({})
