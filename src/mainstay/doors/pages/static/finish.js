// Says on the button how much time will be logged. Without JavaScript, it says the time as of when the page was opened.

const form = document.querySelector("[data-finish]");
const button = form.querySelector("[data-words]");
const { startedAt, endedAt, breakMinutes } = form.elements;

function minutesOf(text) {
  const [, hours, minutes] = text.trim().match(/^(\d{1,2}):(\d{2})$/) ?? [];
  return minutes === undefined ? NaN : Number(hours) * 60 + Number(minutes);
}

// A break as it is typed, such as 30m, 30 or 0:30. Other spellings are left to the server.
function breakOf(text) {
  const written = text.trim();
  const [, minutes, number] = written.match(/^(?:(\d{1,3}) ?m(?:in)?|([1-9]\d{1,2}))$/) ?? [];
  return written ? Number(minutes ?? number ?? minutesOf(written)) : 0;
}

const plain = button.textContent;
const warning = form.querySelector("[data-long]");
function say() {
  const started = minutesOf(startedAt.value);
  let worked = minutesOf(endedAt.value) - started;
  if (worked <= 0) worked += 24 * 60;
  worked -= breakOf(breakMinutes.value);
  const time = `${Math.floor(worked / 60)}:${String(worked % 60).padStart(2, "0")}`;
  button.textContent = worked > 0 && worked < 24 * 60 - 1 ? button.dataset.words.replace("{time}", time) : plain;
  warning.hidden = !(worked > warning.dataset.long && worked < 24 * 60 - 1);
}
if (startedAt) for (const field of [startedAt, endedAt, breakMinutes]) field.addEventListener("input", say);
