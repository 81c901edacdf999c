// Chooses with a country what is usual there; without it, and where that is not clear, one chooses it oneself.

const form = document.querySelector("form[data-usual]");
const usual = JSON.parse(form.dataset.usual);
const { country, currency, timeZone } = form.elements;
const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
// What someone has chosen, now or before the form came back, stays.
const chosen = new Set([currency, timeZone].filter((field) => field.value));

for (const field of [currency, timeZone]) field.addEventListener("change", () => chosen.add(field));

country.addEventListener("change", () => {
  const [money, zones] = usual[country.value] ?? ["", {}];
  const [only, ...others] = new Set(Object.values(zones));
  suggest(currency, money);
  suggest(timeZone, zones[here] ?? (others.length ? "" : only ?? ""));
});

function suggest(field, value) {
  if (!chosen.has(field)) field.value = value;
}
