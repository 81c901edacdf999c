// When a country is chosen, chooses its currency and its time zone: that of this browser if it belongs to the country,
// otherwise the country's main one.

const form = document.querySelector("form[data-usual]");
const usual = JSON.parse(form.dataset.usual);
const { country, currency, timeZone } = form.elements;
const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
// Values that the person has chosen, now or before the form was shown again, are kept.
const chosen = new Set([currency, timeZone].filter((field) => field.value));

for (const field of [currency, timeZone]) field.addEventListener("change", () => chosen.add(field));

country.addEventListener("change", () => {
  const [money, zones, main] = usual[country.value] ?? ["", {}, ""];
  suggest(currency, money);
  suggest(timeZone, zones[here] ?? main);
});

function suggest(field, value) {
  if (!chosen.has(field)) field.value = value;
}
