"""The pages of the first steps: the usual settings of the country, and a price list to begin with."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from mainstay.business.organisation.operations import get_organisation
from mainstay.business.organisation.settings import SettingsOut, get_settings, update_settings
from mainstay.business.pricelist.country_presets import COUNTRY_PRESETS, NO_TAX, CountryPreset, RatePreset
from mainstay.business.pricelist.operations import save_price_item
from mainstay.business.pricelist.starter_lists import STARTER_LISTS, StarterList
from mainstay.business.pricelist.store import ITEMS, TAX_RATES
from mainstay.business.pricelist.taxes import list_tax_rates, save_tax_rate
from mainstay.doors.http import Response
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues
from mainstay.doors.office.kit.linked_changes import LinkedChange, perform_linked
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.settings.importing import import_path_of
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.form_fields import FormField, form_fields_of
from mainstay.doors.pages.page_language import current_language
from mainstay.doors.pages.rendering import redirect
from mainstay.kernel.catalogue import check_permission
from mainstay.values.message import Message
from mainstay.values.names import country_names
from mainstay.vocabulary.refusal import Fault, Invalid, NotFound

COUNTRY_PATH = "/first-steps/country"
PRICES_PATH = "/first-steps/prices"
# The settings that depend on the country, besides the tax rates.
_FIELDS = ("paymentTermsDays", "language")
# What someone can choose about tax.
_CHARGES_TAX, _NO_TAX = "charged", "none"


@dataclass(frozen=True)
class CountryStart:
    """What is proposed to an organisation in its country."""

    country: str
    settings: SettingsOut
    # None if too little is known of the country.
    preset: CountryPreset | None
    # Whether the organisation has tax rates already, which are then left alone.
    has_rates: bool

    @property
    def rates(self) -> Sequence[RatePreset]:
        """The tax rates that are proposed."""
        return self.preset.rates if self.preset and not self.has_rates else ()


@dataclass(frozen=True)
class FirstRunPages:
    """The pages of these steps. Together they ask for everything that the first invoice needs."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        country = Form(
            self.office,
            self._find_country,
            self._save_country,
            self._show_country,
            fill_in=_fill_in_country,
            operation=update_settings,
        )
        prices = Form(self.office, _find_starter, self._add_items, self._show_starter, operation=save_price_item)
        return [
            *country.routes(COUNTRY_PATH),
            Route("GET", PRICES_PATH, self.office.require_sign_in(self.show_trades)),
            *prices.routes(f"{PRICES_PATH}/{{trade}}"),
        ]

    async def _find_country(self, request: OfficeRequest, _: PathValues) -> CountryStart:
        country = (await self.office.perform(request, get_organisation)).country
        settings = await self.office.perform(request, get_settings)
        rates = await self.office.perform(request, list_tax_rates, {"limit": 1})
        return CountryStart(country, settings, COUNTRY_PRESETS.get(country), bool(rates.data))

    async def _show_country(self, form: OpenForm[CountryStart]) -> Response:
        start = form.subject
        return self.office.render_page(
            "first_country.html",
            form.request,
            form.status,
            area="Home",
            country=country_names()[start.country],
            rates=start.rates,
            has_rates=start.has_rates,
            tax_choices=(_CHARGES_TAX, _NO_TAX),
            taxes_path=TAX_RATES.new_path,
            form_fields=_country_fields(form.request),
            fields=form.fields,
            chosen=form.fields.get("tax"),
            **form.variables,
        )

    async def _save_country(self, form: OpenForm[CountryStart]) -> Response:
        """Save the settings and the tax rates, all or none."""
        request, start = form.request, form.subject
        values = {field.name: field.to_input(form.fields, request.display) for field in _country_fields(request)}
        changes = [LinkedChange(update_settings, {name: value for name, value in values.items() if value is not None})]
        if start.rates:
            rates = {_CHARGES_TAX: start.rates, _NO_TAX: (NO_TAX,)}.get(form.fields.get("tax", ""))
            if rates is None:
                raise Invalid([Fault("tax", Message("is required"))], Message("Choose whether you charge tax."))
            changes += [
                LinkedChange(save_tax_rate, rate.to_input(is_default=rate is rates[0])) for rate in reversed(rates)
            ]
        await self._perform(request, changes)
        return redirect(f"/?done={update_settings.name}")

    async def show_trades(self, request: OfficeRequest, _: PathValues) -> Response:
        """Show the trades for which there is a list to begin with."""
        check_permission(save_price_item, request.actor)
        trades = [(f"{PRICES_PATH}/{name}", starter) for name, starter in STARTER_LISTS.items()]
        return self.office.render_page(
            "first_trades.html", request, area="Price list", trades=trades, import_path=import_path_of(ITEMS)
        )

    async def _show_starter(self, form: OpenForm[StarterList]) -> Response:
        return self.office.render_page(
            "first_prices.html",
            form.request,
            form.status,
            area="Price list",
            starter=form.subject,
            trades_path=PRICES_PATH,
            fields=form.fields,
            **form.variables,
        )

    async def _add_items(self, form: OpenForm[StarterList]) -> Response:
        """Add the items that have a price, with their names in the language of the page."""
        request, changes = form.request, []
        translate = current_language().translate
        price = next(
            field for field in form_fields_of(save_price_item, request.actor.permissions) if field.name == "sellPrice"
        )
        for number, item in enumerate(form.subject.items):
            name = f"price{number}"
            amount = price.to_input({price.name: form.fields.get(name, "")}, request.display)
            if amount is not None:
                given = item.to_input(translate(item.name)) | {price.name: amount}
                changes.append(LinkedChange(save_price_item, given, field=name))
        if not changes:
            raise Invalid([Fault("price0", Message("is required"))], Message("Enter at least one price."))
        # Lists begin with the newest.
        await self._perform(request, changes[::-1])
        return redirect(f"{ITEMS.path}?done={save_price_item.name}")

    async def _perform(self, request: OfficeRequest, changes: Sequence[LinkedChange]) -> None:
        runner = self.office.visitors.runner
        await runner.run_change(request.actor.organisation, partial(perform_linked, self.office, request, changes))


async def _find_starter(_request: OfficeRequest, path_values: PathValues) -> StarterList:
    starter = STARTER_LISTS.get(path_values["trade"])
    if starter is None:
        raise NotFound("page")
    return starter


def _country_fields(request: OfficeRequest) -> list[FormField]:
    fields = {field.name: field for field in form_fields_of(update_settings, request.actor.permissions)}
    return [fields[name] for name in _FIELDS]


def _fill_in_country(_request: OfficeRequest, start: CountryStart) -> dict[str, str]:
    """Return what is usual in the country, or what the organisation has if that is unknown."""
    usual: Any = start.preset or start.settings
    return {"tax": _CHARGES_TAX, "paymentTermsDays": str(usual.payment_terms_days), "language": usual.language}
