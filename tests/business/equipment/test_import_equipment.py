from mainstay.business.equipment.operations import list_equipment
from support.cast import Cast
from support.customers import make_customer, make_site
from support.imports import upload_import

HEADINGS = ["Client", "Property", "Asset", "Manufacturer", "Model", "S/N", "Installed", "Warranty until"]
BOILER = ["Calder Property", "The mill", "Boiler", "Worcester", "Greenstar", "7733", "2024-05-14", "13.05.2029"]
PUMP = ["Calder Property", "The mill", "Pump", "", "", "", "", ""]


def test_a_file_names_the_site_and_its_customer(cast: Cast) -> None:
    site = make_site(cast, make_customer(cast), name="The mill")
    upload = upload_import(cast, "equipment", HEADINGS, [BOILER, PUMP])
    assert upload.check().faults == []
    assert upload.import_rows().created == 2
    pump, boiler = cast.perform(list_equipment, siteId=site)["data"]
    assert pump["name"] == "Pump"
    assert (boiler["name"], boiler["make"], boiler["model"]) == ("Boiler", "Worcester", "Greenstar")
    assert (boiler["serialNumber"], boiler["installedOn"], boiler["warrantyUntil"]) == (
        "7733",
        "2024-05-14",
        "2029-05-13",
    )


def test_importing_a_file_again_changes_what_is_different(cast: Cast) -> None:
    make_site(cast, make_customer(cast), name="The mill")
    upload_import(cast, "equipment", HEADINGS, [BOILER, PUMP]).import_rows()
    outcome = upload_import(cast, "equipment", HEADINGS, [[*BOILER[:3], "Vaillant", *BOILER[4:]], PUMP]).import_rows()
    assert (outcome.created, outcome.changed, outcome.unchanged) == (0, 1, 1)
    assert [one["make"] for one in cast.perform(list_equipment)["data"]] == [None, "Vaillant"]


def test_an_unknown_site_is_a_fault_of_its_row(cast: Cast) -> None:
    make_site(cast, make_customer(cast), name="The mill")
    faults = upload_import(cast, "equipment", HEADINGS, [BOILER, [PUMP[0], "The barn", *PUMP[2:]]]).check().faults
    assert [(fault.row, fault.label) for fault in faults] == [(3, "Site")]


def test_undoing_an_import_leaves_nothing(cast: Cast) -> None:
    make_site(cast, make_customer(cast), name="The mill")
    upload = upload_import(cast, "equipment", HEADINGS, [BOILER, PUMP])
    upload.import_rows()
    upload.undo()
    assert cast.perform(list_equipment)["data"] == []
