"""The names and texts of the demo. Nobody in it is real, and nothing is sent to anyone in it."""

from random import Random
from typing import Any

_SURNAMES = (
    "Ackroyd", "Barraclough", "Crossley", "Dearden", "Eastwood", "Farrar", "Greenwood", "Helliwell", "Illingworth",
    "Jagger", "Kershaw", "Lumb", "Midgley", "Naylor", "Ogden", "Pickles", "Rushworth", "Shackleton", "Thwaite",
    "Uttley", "Varley", "Wadsworth", "Yeadon", "Nowak", "Okonkwo", "Patel", "Rahman", "Singh",
)  # fmt: skip
_FORENAMES = (
    "Alice", "Bilal", "Carol", "Derek", "Elsie", "Frank", "Gwen", "Harun", "Ivy", "Joan", "Keith", "Lorna", "Malik",
    "Nora", "Owen", "Pauline", "Rita", "Stan", "Tara", "Winston",
)  # fmt: skip
_FIRMS = (
    "Calder Property Services", "Hebden Mill Trust", "Ripponden Parish Council", "Ryburn Lettings", "Luddenden Dental",
    "Norland Primary School", "The Puzzle Hall Inn", "Copley Data Centre", "Elland Bakery", "Skircoat Care Home",
    "Todmorden Market Hall", "Stainland Village Club", "Wainhouse Apartments", "Shibden Farm Shop", "Mytholm Studios",
    "Brighouse Marina", "Halifax Minster Hall", "Greetland Golf Club", "Barkisland Nursery", "Savile Park Surgery",
)  # fmt: skip
_STREETS = (
    "Weir Lane", "Canal Road", "Mill Fold", "Burnley Road", "Wharf Street", "Bolton Brow", "Rochdale Road",
    "Heath Avenue", "Church Bank", "Station Terrace", "Quarry Hill", "Pye Nest Drive", "Moorside", "Beech View",
)  # fmt: skip
_TOWNS = (
    ("Sowerby Bridge", "HX6"),
    ("Halifax", "HX1"),
    ("Hebden Bridge", "HX7"),
    ("Elland", "HX5"),
    ("Brighouse", "HD6"),
    ("Ripponden", "HX6"),
    ("Todmorden", "OL14"),
)
_CONTACT_ROLES = ("caretaker", "tenant", "facilities", "manager", "bursar")
_ACCESS_NOTES = (
    "Key safe by the back door; the office has the code.",
    "Ring the bell twice, the dog is friendly.",
    "Park in the yard, not on the street.",
    "Sign in at reception.",
    None,
    None,
)
_JOBS = (
    ("Replace the boiler", ["gas", "boiler"], "2450.00"),
    ("Annual boiler service", ["gas", "service"], "95.00"),
    ("Leak under the kitchen sink", ["leak"], None),
    ("Fit a new bathroom", ["bathroom", "tiling"], "6200.00"),
    ("Radiators stay cold upstairs", ["heating"], None),
    ("Landlord gas safety check", ["gas", "certificate"], "78.00"),
    ("Move the stopcock", ["water"], "180.00"),
    ("Blocked drain in the yard", ["drain"], None),
    ("Power flush the heating", ["heating"], "420.00"),
    ("Install a heat pump", ["heating", "heat pump"], "9800.00"),
    ("Tile the shower", ["tiling"], "740.00"),
    ("Hot water cylinder makes noises", ["water"], None),
    ("Unvented cylinder service", ["service"], "140.00"),
    ("Outside tap", ["water"], "120.00"),
)
JOB_TITLES = tuple(title for title, *_ in _JOBS)
_JOB_DESCRIPTIONS = (
    "The customer has been told that parts may take a week.",
    "Same as last year; the old part numbers are on the certificate.",
    "Look first, then order. Photographs to the office, please.",
    None,
    None,
)
NOTES = (
    "The stopcock is behind the washing machine.",
    "The customer is at home after two o'clock.",
    "Left the old pump on site, to be collected.",
    "Needs a 28 mm fitting that was not on the van.",
    "Asked whether we also do the flat above.",
)
# The certificates for work with these titles, and their lines.
CERTIFICATES = {
    "Landlord gas safety check": "Gas safety record",
    "Unvented cylinder service": "Cylinder service record",
}
CHECKS = (
    "Tightness test: passed",
    "Flue and ventilation: safe",
    "Safety devices: work as they should",
    "Nothing was found that needs attention within the next twelve months.",
    "Hartley & Daughters Ltd, Unit 4, Canal Yard, Sowerby Bridge HX6 2AG",
)
PARTS_NEEDED = {
    "Replace the boiler": ("1 boiler, 30 kW, with flue", "1 magnetic filter, 22 mm", "3 m copper pipe, 22 mm"),
    "Fit a new bathroom": ("1 bath, 1700 mm", "1 basin with pedestal", "12 m2 tiles, white, 200 x 250"),
    "Install a heat pump": ("1 heat pump, 8 kW", "1 buffer, 50 l", "2 flexible hoses, 28 mm"),
}
CANCEL_REASONS = (
    "The customer has decided otherwise.",
    "Found a leak in the roof instead; not ours.",
    "The house is sold.",
)


def make_customer(rng: Random, number: int) -> dict[str, Any]:
    """Make the inputs of a customer with a contact and one or two sites."""
    person = f"{rng.choice(_FORENAMES)} {rng.choice(_SURNAMES)}"
    firm = _FIRMS[number] if number < len(_FIRMS) else None
    name, home = firm or person, _make_address(rng)
    mailbox = "".join(char for char in name.lower() if char.isalnum())
    sites: list[dict[str, Any]] = [{"address": home, "accessNotes": rng.choice(_ACCESS_NOTES)}]
    if firm and number % 2:
        sites.append({"address": _make_address(rng), "name": rng.choice(("Annexe", "Old building", "Yard"))})
    return {
        "customer": {
            "name": name,
            "kind": "company" if firm else "individual",
            "email": f"office@{mailbox}.example",
            "phone": f"+44 1422 555 {number:04d}",
            "billingAddress": home,
            "makeSite": False,
            "externalRef": f"C{1000 + number}",
        },
        "contact": {
            "name": person,
            "role": rng.choice(_CONTACT_ROLES) if firm else None,
            "phone": f"07700 90{number:04d}",
            "receives": {"quotes": True, "invoices": True},
        },
        "sites": sites,
    }


def make_crew(count: int) -> list[tuple[str, str]]:
    """Return the names and email addresses of this many people who work in the field."""
    names = [f"{_FORENAMES[number % len(_FORENAMES)]} {_SURNAMES[-1 - number]}" for number in range(count)]
    return [(name, f"{name.lower().replace(' ', '.')}@hartley.example") for name in names]


def make_job(rng: Random) -> dict[str, Any]:
    """Make the input of a job."""
    title, tags, budget = rng.choice(_JOBS)
    return {
        "title": title,
        "tags": tags,
        "budget": budget,
        "billing": "fixed" if budget else "timeAndMaterials",
        "description": rng.choice(_JOB_DESCRIPTIONS),
        "priority": rng.choices(["low", "normal", "high", "urgent"], [10, 70, 15, 5])[0],
    }


def _make_address(rng: Random) -> dict[str, str]:
    town, postcode = rng.choice(_TOWNS)
    return {
        "line1": f"{rng.randrange(1, 140)} {rng.choice(_STREETS)}",
        "city": town,
        "postalCode": f"{postcode} {rng.randrange(1, 9)}{rng.choice('ABDEFGHJLN')}{rng.choice('PQRSTUWXYZ')}",
        "country": "GB",
    }
