"""What makes a record where none is named, and changes one where it is: two routes of one operation."""

from support.cast import Cast
from support.customers import ADDRESS, make_customer, make_site
from support.raw_http import check_refusal
from support.servers import RunningServer


def test_a_site_is_made_by_post_and_changed_by_patch(server: RunningServer, cast: Cast) -> None:
    key, customer = cast.make_key(), make_customer(cast)
    made = server.request("POST", "/api/v1/sites", key, json={"customerId": customer, "address": ADDRESS})
    assert made.status_code == 201
    site = made.json()
    assert made.headers["ETag"] == '"1"'
    path = f"/api/v1/sites/{site['id']}"
    changed = server.request("PATCH", path, key, json={"accessNotes": "Ring twice."})
    assert (changed.status_code, changed.headers["ETag"]) == (200, '"2"')
    assert server.request("GET", path, key).json()["accessNotes"] == "Ring twice."
    check_refusal(server.request("PATCH", path, key, json={"name": "x"}, headers={"If-Match": '"1"'}), 412)


def test_the_id_of_what_is_changed_stands_in_the_path_alone(server: RunningServer, cast: Cast) -> None:
    key, customer = cast.make_key(), make_customer(cast)
    site = make_site(cast, customer)
    body = {"siteId": site, "customerId": customer, "address": ADDRESS, "name": "x"}
    message = check_refusal(server.request("POST", "/api/v1/sites", key, json=body), 422)
    assert message.startswith("siteId: is not known here (known: customerId, ")
    check_refusal(server.request("PATCH", f"/api/v1/sites/{site}", key, json={"siteId": site, "name": "x"}), 422)
    assert server.request("GET", f"/api/v1/sites/{site}", key).json()["name"] == "2 Weir Lane"


def test_a_record_that_is_not_there_is_not_made(server: RunningServer, cast: Cast, other_cast: Cast) -> None:
    site = make_site(other_cast, make_customer(other_cast))
    check_refusal(server.request("PATCH", f"/api/v1/sites/{site}", cast.make_key(), json={"name": "x"}), 404)
