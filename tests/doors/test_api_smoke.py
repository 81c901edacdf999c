from cast import Cast
from running import RunningServer


def test_the_organisation_of_the_key_is_answered(server: RunningServer, cast: Cast) -> None:
    answer = server.request("GET", "/api/v1/organisation", cast.key())
    assert answer.status_code == 200
    assert answer.json()["id"] == cast.organisation
