"""The organisation's logo, as printed on documents for customers."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from mainstay.business.organisation.model import Organisation
from mainstay.business.organisation.storage import add_stored_bytes
from mainstay.business.organisation.store import ORGANISATION
from mainstay.changes.undo import Inverse
from mainstay.infrastructure.images import PICTURE_TYPES
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import Act
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import NOT_IN_FORMS, StoredFileName, Upload, WholeNumber
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import Input

MAX_LOGO_BYTES = 2_000_000
MAX_LOGO_SIDE = 1000
_MAX_STORED_BYTES = 5_000_000


class SetLogo(Input):
    """The picture."""

    logo: Annotated[
        StoredFileName,
        Upload(max_bytes=MAX_LOGO_BYTES, media_types=PICTURE_TYPES, max_side=MAX_LOGO_SIDE, size_field="logoBytes"),
    ] = Field(
        description=f"A PNG or JPEG picture, up to {MAX_LOGO_BYTES // 1_000_000} MB."
        f" Larger ones are scaled down to {MAX_LOGO_SIDE:,} pixels."
    )
    logo_bytes: Annotated[WholeNumber, NOT_IN_FORMS] = Field(
        0, ge=0, le=_MAX_STORED_BYTES, description="The size of the picture."
    )


def _restore_logo(act: Act) -> Sequence[Inverse]:
    """Show the previous logo again, or none. Its file is kept, because documents show it."""
    before, after = act.before, act.after
    if before.logo == after.logo:
        return []
    if before.logo is None:
        return [Inverse("remove_logo", {})]
    return [Inverse("set_logo", {"logo": before.logo, "logoBytes": before.logo_bytes})]


@operation(
    permission=Permission.ORGANISATION_CHANGE,
    effect=Effect.CHANGE,
    doors=frozenset({Door.OFFICE}),
    on=ORGANISATION,
    done_message="Logo uploaded.",
    undone_by=_restore_logo,
    past_text="Logo uploaded",
)
def set_logo(ctx: Context, given: SetLogo, organisation: Organisation) -> Organisation:
    """Upload logo.

    Shown in Mainstay and on your quotes and invoices.
    """
    # A logo is one picture of a few megabytes, so it counts towards the storage but is never refused.
    add_stored_bytes(ctx, given.logo_bytes - organisation.logo_bytes)
    return ORGANISATION.save(ctx, organisation, {"logo": given.logo, "logo_bytes": given.logo_bytes})


@operation(
    permission=Permission.ORGANISATION_CHANGE,
    effect=Effect.CHANGE,
    doors=frozenset({Door.OFFICE}),
    on=ORGANISATION,
    blocked_by=Organisation.logo_not_removable,
    undone_by=_restore_logo,
    past_text="Logo removed",
)
def remove_logo(ctx: Context, _given: Input, organisation: Organisation) -> Organisation:
    """Remove logo.

    Documents already sent keep it.
    """
    add_stored_bytes(ctx, -organisation.logo_bytes)
    return ORGANISATION.save(ctx, organisation, {"logo": None, "logo_bytes": 0})


OPERATIONS = (set_logo, remove_logo)
