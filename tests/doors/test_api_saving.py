"""What makes a record where none is named, and changes one where it is: two routes of one operation."""

from cast import Cast
from running import RunningServer
from talking import refused
from trade import ADDRESS, a_customer, a_site


def test_a_site_is_made_by_post_and_changed_by_patch(server: RunningServer, cast: Cast) -> None:
    key, customer = cast.key(), a_customer(cast)
    made = server.request("POST", "/api/v1/sites", key, json={"customerId": customer, "address": ADDRESS})
    assert made.status_code == 201
    site = made.json()
    assert made.headers["ETag"] == '"1"'
    path = f"/api/v1/sites/{site['id']}"
    changed = server.request("PATCH", path, key, json={"accessNotes": "Ring twice."})
    assert (changed.status_code, changed.headers["ETag"]) == (200, '"2"')
    assert server.request("GET", path, key).json()["accessNotes"] == "Ring twice."
    refused(server.request("PATCH", path, key, json={"name": "x"}, headers={"If-Match": '"1"'}), 412)


def test_the_id_of_what_is_changed_stands_in_the_path_alone(server: RunningServer, cast: Cast) -> None:
    key, customer = cast.key(), a_customer(cast)
    site = a_site(cast, customer)
    body = {"siteId": site, "customerId": customer, "address": ADDRESS, "name": "x"}
    told = refused(server.request("POST", "/api/v1/sites", key, json=body), 422)
    assert told.startswith("siteId: is not known here (known: customerId, ")
    refused(server.request("PATCH", f"/api/v1/sites/{site}", key, json={"siteId": site, "name": "x"}), 422)
    assert server.request("GET", f"/api/v1/sites/{site}", key).json()["name"] == "2 Weir Lane"


def test_a_record_that_is_not_there_is_not_made(server: RunningServer, cast: Cast, stranger: Cast) -> None:
    site = a_site(stranger, a_customer(stranger))
    refused(server.request("PATCH", f"/api/v1/sites/{site}", cast.key(), json={"name": "x"}), 404)
