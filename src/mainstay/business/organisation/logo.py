"""The organisation's logo, as it will stand on what customers are sent."""

from typing import Annotated

from pydantic import Field

from mainstay.backing.images import ACCEPTED
from mainstay.business.organisation.model import Organisation
from mainstay.business.organisation.storage import count_stored
from mainstay.business.organisation.store import ORGANISATION
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import Door
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input
from mainstay.values.fields import NOT_ASKED, KeptName, Upload, WholeNumber

MOST_BYTES = 2_000_000
LONGEST_SIDE = 1000
_MOST_KEPT = 5_000_000


class SetLogo(Input):
    """The picture."""

    logo: Annotated[
        KeptName, Upload(most=MOST_BYTES, accepts=ACCEPTED, longest_side=LONGEST_SIDE, size="logoBytes")
    ] = Field(
        description=f"A PNG or JPEG picture of at most {MOST_BYTES // 1_000_000} MB."
        f" It is made no larger than {LONGEST_SIDE:,} dots a side."
    )
    logo_bytes: Annotated[WholeNumber, NOT_ASKED] = Field(
        0, ge=0, le=_MOST_KEPT, description="The size of the picture."
    )


class RemoveLogo(Input):
    """Nothing: there is only one."""


@operation(
    right=Right.ORGANISATION_CHANGE,
    effect=Effect.CHANGE,
    offered=frozenset({Door.OFFICE}),
    on=ORGANISATION,
    done="The logo is set.",
)
def set_logo(ctx: Context, given: SetLogo, organisation: Organisation) -> Organisation:
    """Set the organisation's logo.

    It is shown here in the office, and on what customers are sent.
    """
    # It is one picture of at most a few megabytes, so it is counted and never refused.
    count_stored(ctx, given.logo_bytes - organisation.logo_bytes)
    return ORGANISATION.save(ctx, organisation, {"logo": given.logo, "logo_bytes": given.logo_bytes})


@operation(
    right=Right.ORGANISATION_CHANGE,
    effect=Effect.CHANGE,
    offered=frozenset({Door.OFFICE}),
    on=ORGANISATION,
    unless=Organisation.without_logo,
    done="The logo is removed.",
)
def remove_logo(ctx: Context, _given: RemoveLogo, organisation: Organisation) -> Organisation:
    """Remove the organisation's logo.

    What was sent with it stays as it was.
    """
    count_stored(ctx, -organisation.logo_bytes)
    return ORGANISATION.save(ctx, organisation, {"logo": None, "logo_bytes": 0})


OPERATIONS = (set_logo, remove_logo)
