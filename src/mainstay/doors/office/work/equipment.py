"""Equipment at sites."""

from mainstay.business.customers.store import SITES
from mainstay.business.equipment.operations import save_equipment
from mainstay.business.equipment.store import EQUIPMENT
from mainstay.business.jobs.store import JOBS
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.office.kit.related_lists import RelatedList
from mainstay.doors.pages.formatting import join_isolated

_PANEL_COLUMNS = ("make", "model", "serialNumber", "warrantyUntil")

EQUIPMENT_LAYOUT = RecordLayout(
    kind=EQUIPMENT,
    lead="What is installed where, and its warranty.",
    create_operation=save_equipment,
    first_fields=("siteId", "name", "make", "model", "serialNumber", "installedOn"),
    title_of=lambda equipment: str(equipment.name),
    subtitle_of=lambda equipment: join_isolated(equipment.site_name, equipment.customer_name, separator=" · "),
    columns=("make", "model", "serialNumber", "warrantyUntil", "status"),
    optional_columns=("make",),
    facts=(
        "customerName",
        "siteName",
        "make",
        "model",
        "serialNumber",
        "installedOn",
        "warrantyUntil",
        "notes",
        "externalRef",
    ),
    tabs={"": "Active", "archived": "Archived"},
    empty_text="No equipment yet. Add it on a site's page, or import it in Settings → Import.",
    shown_on=(
        RelatedList(SITES, "siteId", _PANEL_COLUMNS, can_add=True, is_side=True),
        RelatedList(JOBS, "siteId", _PANEL_COLUMNS, record_field="siteId", is_side=True),
    ),
)
