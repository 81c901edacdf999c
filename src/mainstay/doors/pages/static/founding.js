// Chooses with a country what is usual there: its currency, and the time zone of this browser if that is one of the
// country's, or else its main one.

const form = document.querySelector("form[data-usual]");
const usual = JSON.parse(form.dataset.usual);
const { country, currency, timeZone } = form.elements;
const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
// What someone has chosen, now or before the form came back, stays.
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
