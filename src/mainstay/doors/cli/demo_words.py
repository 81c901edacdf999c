"""The names and words of the demo: nobody in it is real, and nothing is sent to any of them."""

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
_ROLES = ("caretaker", "tenant", "facilities", "manager", "bursar")
_ACCESS = (
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
TITLES = tuple(title for title, *_ in _JOBS)
_DETAILS = (
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
# What is left behind after work with these titles, and what is said on it.
CERTIFIED = {"Landlord gas safety check": "Gas safety record", "Unvented cylinder service": "Cylinder service record"}
CHECKS = (
    "Tightness test: passed",
    "Flue and ventilation: safe",
    "Safety devices: work as they should",
    "Nothing was found that needs attention within the next twelve months.",
    "Hartley & Daughters Ltd, Unit 4, Canal Yard, Sowerby Bridge HX6 2AG",
)
PARTS = {
    "Replace the boiler": ("1 boiler, 30 kW, with flue", "1 magnetic filter, 22 mm", "3 m copper pipe, 22 mm"),
    "Fit a new bathroom": ("1 bath, 1700 mm", "1 basin with pedestal", "12 m2 tiles, white, 200 x 250"),
    "Install a heat pump": ("1 heat pump, 8 kW", "1 buffer, 50 l", "2 flexible hoses, 28 mm"),
}
REASONS = ("The customer has decided otherwise.", "Found a leak in the roof instead; not ours.", "The house is sold.")


def customer(chance: Random, number: int) -> dict[str, Any]:
    """A customer with a contact and one or two sites."""
    person = f"{chance.choice(_FORENAMES)} {chance.choice(_SURNAMES)}"
    firm = _FIRMS[number] if number < len(_FIRMS) else None
    name, home = firm or person, _address(chance)
    mailbox = "".join(letter for letter in name.lower() if letter.isalnum())
    sites: list[dict[str, Any]] = [{"address": home, "accessNotes": chance.choice(_ACCESS)}]
    if firm and number % 2:
        sites.append({"address": _address(chance), "name": chance.choice(("Annexe", "Old building", "Yard"))})
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
            "role": chance.choice(_ROLES) if firm else None,
            "phone": f"07700 90{number:04d}",
            "receives": {"quotes": True, "invoices": True},
        },
        "sites": sites,
    }


def crew(count: int) -> list[tuple[str, str]]:
    """The names and addresses of so many who work in the field."""
    names = [f"{_FORENAMES[number % len(_FORENAMES)]} {_SURNAMES[-1 - number]}" for number in range(count)]
    return [(name, f"{name.lower().replace(' ', '.')}@hartley.example") for name in names]


def job(chance: Random) -> dict[str, Any]:
    """What a job is about."""
    title, tags, budget = chance.choice(_JOBS)
    return {
        "title": title,
        "tags": tags,
        "budget": budget,
        "billing": "fixed" if budget else "timeAndMaterials",
        "description": chance.choice(_DETAILS),
        "priority": chance.choices(["low", "normal", "high", "urgent"], [10, 70, 15, 5])[0],
    }


def _address(chance: Random) -> dict[str, str]:
    town, postcode = chance.choice(_TOWNS)
    return {
        "line1": f"{chance.randrange(1, 140)} {chance.choice(_STREETS)}",
        "city": town,
        "postalCode": f"{postcode} {chance.randrange(1, 9)}{chance.choice('ABDEFGHJLN')}{chance.choice('PQRSTUWXYZ')}",
        "country": "GB",
    }
