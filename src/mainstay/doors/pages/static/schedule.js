// Moving visits by dragging or by keys: to another time or person, or to another length. All of it sends the same form
// that moves a visit without JavaScript. The server decides whether something clashes. The page only warns of clashes
// with what it shows.

const told = document.getElementById("dragged");
// The texts that this script shows, in the language of the page.
const texts = told.dataset;
const hint = document.getElementById("by-keys");
// The visit to focus after the page has loaded again.
const FOCUSED = "schedule-focused";
// The places for visits, by person: one per person in a day, seven in a week.
const places = [...document.querySelectorAll(".day .row, .week tbody tr")]
  .map((row) => [...row.querySelectorAll("[data-person]")])
  .filter((row) => row.length);
let held = null;
let resized = null;
let moved = null;

for (const booked of document.querySelectorAll(".booked[draggable]")) {
  booked.addEventListener("dragstart", (event) => {
    if (resized) {
      event.preventDefault();
      return;
    }
    held = { booked, grip: event.offsetX };
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", booked.textContent.trim());
    booked.classList.add("dragging");
    // The board may only change once the drag has begun.
    setTimeout(unfold);
  });
  booked.addEventListener("dragend", () => {
    booked.classList.remove("dragging");
    held = null;
  });
  if (places.length) letMove(booked);
  if (booked.dataset.for) letResize(booked);
}

for (const place of document.querySelectorAll("[data-person]")) {
  place.addEventListener("dragover", (event) => {
    if (!held) return;
    event.preventDefault();
    place.classList.add("over");
    warn(place, clashes(place, held.booked, minutes(held.booked, place, event.clientX - held.grip)));
  });
  place.addEventListener("dragleave", (event) => {
    if (!place.contains(event.relatedTarget)) leave(place);
  });
  place.addEventListener("drop", async (event) => {
    event.preventDefault();
    leave(place);
    if (held) await move(held.booked, place, event.clientX - held.grip);
    held = null;
  });
}

const again = sessionStorage.getItem(FOCUSED);
if (again) {
  sessionStorage.removeItem(FOCUSED);
  document.querySelector(`.booked[href="${CSS.escape(again)}"]`)?.focus();
}

// Scroll a day to its first working hours or visit. The hours before can be reached by scrolling back.
const day = document.querySelector(".day");
if (day && !again) {
  const begins = [...day.querySelectorAll(".works, .track .booked[data-for]")].map((one) => one.getBoundingClientRect().left);
  const named = day.querySelector("h2").getBoundingClientRect().right;
  if (begins.length) day.scrollLeft = Math.min(...begins) - named;
}

function leave(place) {
  place.classList.remove("over");
  warn(place, []);
}

function move(booked, place, left) {
  return send(booked, (fields) => shift(fields, place.dataset.person, minutes(booked, place, left)));
}

// Give the visit to a person, and shift it by some minutes.
function shift(fields, person, by) {
  fields.set("personId", person);
  for (const name of ["startsAt", "endsAt", "on"]) {
    if (fields.get(name)) fields.set(name, later(fields.get(name), by));
  }
}

// Shift the end of the visit by some minutes.
function stretch(fields, by) {
  if (by) fields.set("endsAt", later(fields.get("endsAt"), by));
}

// Fill in the form that moves a visit, and send it.
async function send(booked, change) {
  tell(texts.moving, false);
  try {
    const page = await fetch(booked.dataset.move);
    const form = new DOMParser().parseFromString(await page.text(), "text/html").querySelector("main form[method=post]");
    if (!form) throw new Error("no form");
    const fields = new URLSearchParams(new FormData(form));
    const dated = [...form.querySelectorAll("[data-date]")].filter((field) => field.value);
    for (const { name, value, dataset } of dated) fields.set(name, isoOf(value, dataset.date));
    change(fields);
    for (const { name, dataset } of dated) fields.set(name, asTyped(fields.get(name), dataset.date));
    const answer = await fetch(booked.dataset.move, { method: "POST", body: fields, redirect: "manual" });
    if (answer.type === "opaqueredirect") {
      const here = new URL(location.href);
      here.searchParams.set("done", "move_visit");
      location.replace(here);
      return true;
    }
    const refused = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".notice.bad, .fault");
    tell(refused ? refused.textContent.replace(/^[\s!]+/, "").trim() : texts.notMoved);
    told.append(" ", formOf(booked));
  } catch {
    tell(texts.offline);
  }
  return false;
}

// A date, or a date and a time, as ISO 8601, from a field that shows it as in this example: `dd/mm/yyyy hh:mm`.
function isoOf(shown, example) {
  const [year, month, day, time] = ["yyyy", "mm", "dd", "hh:mm"].map((part) => {
    const at = example.indexOf(part);
    return at < 0 ? "" : shown.slice(at, at + part.length);
  });
  return `${year}-${month}-${day}${time && `T${time}`}`;
}

// The reverse. The first `mm` of an example is the month.
function asTyped(iso, example) {
  const parts = { yyyy: iso.slice(0, 4), mm: iso.slice(5, 7), dd: iso.slice(8, 10), "hh:mm": iso.slice(11) };
  return Object.entries(parts).reduce((text, [part, number]) => text.replace(part, number), example);
}

// The link to the form that moves a visit, which offers more than dragging does.
function formOf(booked) {
  const way = document.createElement("a");
  way.href = booked.dataset.move;
  way.textContent = texts.form;
  return way;
}

// Make the end of a visit draggable. Releasing it sends the form.
function letResize(booked) {
  booked.setAttribute("aria-keyshortcuts", `${booked.getAttribute("aria-keyshortcuts")} Shift+ArrowRight Shift+ArrowLeft`);
  const grip = document.createElement("span");
  grip.className = "grip";
  grip.setAttribute("aria-hidden", "true");
  booked.append(grip);
  grip.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    if (moved) leaveIt();
    begin(booked);
    grip.setPointerCapture(event.pointerId);
  });
  grip.addEventListener("pointermove", (event) => {
    if (resized) lengthen(quarter(booked.closest(".track"), event.clientX) - Number(booked.dataset.at));
  });
  grip.addEventListener("pointerup", () => finish());
  grip.addEventListener("pointercancel", () => giveUp());
  grip.addEventListener("click", (event) => event.preventDefault());
  booked.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && resized) giveUp();
  });
}

function begin(booked) {
  resized = { booked, item: booked.closest("li"), before: Number(booked.dataset.for), length: Number(booked.dataset.for) };
  booked.classList.add("resizing");
}

function lengthen(wanted) {
  const { booked, item, length } = resized;
  const track = item.parentElement;
  const at = Number(booked.dataset.at);
  resized.length = Math.min(Math.max(wanted, 1), Number(track.dataset.quarters) - at);
  item.classList.replace(`for-${length}`, `for-${resized.length}`);
  const more = (resized.length - resized.before) * 15;
  const found = clashes(track, booked, 0, more);
  warn(track, found);
  if (!found.length) tell(wordsOfLength(more), false);
}

function wordsOfLength(more) {
  if (!more) return texts.same;
  return filled(more < 0 ? texts.shorter : texts.longer, { minutes: Math.abs(more) });
}

async function finish() {
  const { booked, before, length } = resized;
  if (length === before) {
    giveUp();
    return;
  }
  sessionStorage.setItem(FOCUSED, booked.getAttribute("href"));
  const done = await send(booked, (fields) => stretch(fields, (length - before) * 15));
  if (!done) {
    sessionStorage.removeItem(FOCUSED);
    putBack();
  }
}

function giveUp() {
  warn(resized.item.parentElement, []);
  putBack();
}

function putBack() {
  const { booked, item, before, length } = resized;
  item.classList.replace(`for-${length}`, `for-${before}`);
  item.parentElement.classList.remove("clash");
  booked.classList.remove("resizing");
  resized = null;
}

// Make a visit movable by the arrow keys: along its day or week, and from person to person; with Shift, its end.
// The changes are collected until the person saves or leaves them.
function letMove(booked) {
  hint.hidden = false;
  booked.setAttribute("aria-keyshortcuts", "ArrowLeft ArrowRight ArrowUp ArrowDown");
  booked.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || resized) return;
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step && event.shiftKey) {
      if (!step[0] || !booked.dataset.for) return;
      lengthenMoved(booked, step[0]);
    } else if (step) take(booked, ...step);
    else if (moved && event.key === "Enter") put();
    else if (moved && event.key === "Escape") leaveIt();
    else return;
    event.preventDefault();
  });
  booked.addEventListener("blur", () => {
    if (moved && !moved.busy) leaveIt();
  });
}

// Show the people who have no visits, because a visit may be meant for them.
function unfold() {
  const folded = document.querySelector(".folded");
  if (folded) folded.open = true;
}

function take(booked, across, down) {
  moved ??= picked(booked);
  if (moved.busy) return;
  if (down) unfold();
  const { length } = moved;
  moved.row = within(moved.row + down, places.length);
  if (length) moved.at = within(moved.at + across, Number(placeOf(moved).dataset.quarters) - length + 1);
  else moved.column = within(moved.column + across, places[moved.row].length);
  showMoved();
}

function lengthenMoved(booked, by) {
  moved ??= picked(booked);
  if (moved.busy) return;
  const wanted = moved.length + by;
  moved.length = within(wanted - 1, Number(placeOf(moved).dataset.quarters) - moved.at) + 1;
  showMoved();
  if (moved.length < wanted) tell(texts.longest);
  if (moved.length > wanted) tell(texts.shortest);
}

function picked(booked) {
  const place = booked.closest("[data-person]");
  const row = places.findIndex((some) => some.includes(place));
  const length = place.dataset.quarters ? Number(booked.dataset.for ?? 0) : 0;
  const item = length ? booked.closest("li") : booked;
  const at = Number(booked.dataset.at ?? 0);
  const home = { place, parent: item.parentElement, next: item.nextSibling, at, length };
  return { booked, item, home, row, column: places[row].indexOf(place), at, length, shown: { at, length }, busy: false };
}

function showMoved() {
  const { booked, item, at, length } = moved;
  const place = placeOf(moved);
  if (length) stand(moved, { at, length });
  keepingFocus(() => laneOf(place, length).append(item));
  for (const other of document.querySelectorAll(".clash")) other.classList.remove("clash");
  const { begins, ends } = laterBy();
  const found = clashes(place, booked, begins, ends);
  warn(place, found);
  if (!found.length) tell(filled(texts.keys, { place: wordsOfMoved(place) }), false);
}

// Place a visit at this time of the day, with this length.
function stand({ item, shown }, { at, length }) {
  item.classList.replace(`at-${shown.at + 1}`, `at-${at + 1}`);
  item.classList.replace(`for-${shown.length}`, `for-${length}`);
  Object.assign(shown, { at, length });
}

// Visits without a time come before those with one.
function laneOf(place, length) {
  if (length || !place.dataset.quarters) return place;
  const lane = place.querySelector(".anytime") ?? document.createElement("li");
  lane.className = "anytime";
  if (!lane.parentElement) place.prepend(lane);
  return lane;
}

function wordsOfMoved(place) {
  const who = place.closest(".row, tr").querySelector(".named").textContent;
  const { begins, ends } = laterBy();
  const [first, ...others] = moved.booked.querySelector(".when").textContent.split(/(?=–)/);
  const times = putOff(first, begins) + others.map((text) => putOff(text, ends)).join("");
  return [who.trim(), place.dataset.label, times].filter(Boolean).join(", ");
}

// By how many minutes the start and the end of a moved visit are shifted.
function laterBy() {
  const { home, at, length } = moved;
  const begins = minutesBetween(home.place, placeOf(moved)) + (at - home.at) * 15;
  return { begins, ends: begins + (length - home.length) * 15 };
}

// The text with each time in it shifted.
function putOff(text, by) {
  return text.replace(/\d\d:\d\d/g, (time) => later(`2000-01-01T${time}`, by).slice(11));
}

async function put() {
  const { booked, home, at, length } = moved;
  const place = placeOf(moved);
  if (place === home.place && at === home.at && length === home.length) {
    leaveIt();
    return;
  }
  moved.busy = true;
  const { begins, ends } = laterBy();
  sessionStorage.setItem(FOCUSED, booked.getAttribute("href"));
  const done = await send(booked, (fields) => {
    shift(fields, place.dataset.person, begins);
    stretch(fields, ends - begins);
  });
  if (!done) {
    sessionStorage.removeItem(FOCUSED);
    putHome();
  }
}

function leaveIt() {
  warn(placeOf(moved), []);
  putHome();
}

function putHome() {
  const { item, home, length } = moved;
  placeOf(moved).classList.remove("clash");
  if (length) stand(moved, home);
  keepingFocus(() => home.parent.insertBefore(item, home.next));
  moved = null;
}

// An element that is moved within the page loses its focus. That does not mean that the person left it.
function keepingFocus(change) {
  const { booked } = moved;
  const focused = document.activeElement === booked;
  moved.busy = true;
  change();
  if (focused) booked.focus();
  moved.busy = false;
}

function placeOf({ row, column }) {
  return places[row][column];
}

function within(number, count) {
  return Math.min(Math.max(number, 0), count - 1);
}

// The shown entries that clash with a visit that is shifted by these minutes: other entries of the same person, also on
// the days before and after, because a night shift belongs to two days.
function clashes(place, booked, begins, ends = begins) {
  if (!booked.dataset.from) return [];
  const from = later(booked.dataset.from, begins);
  const until = later(booked.dataset.until, ends);
  return [...place.parentElement.querySelectorAll("[data-from]")].filter(
    (other) => other !== booked && other.dataset.from < until && from < other.dataset.until,
  );
}

function warn(place, found) {
  if (!place.dataset.person) found = [];
  place.classList.toggle("clash", found.length > 0);
  // Time off of several days is shown on each of them.
  const names = new Set(found.map((one) => one.dataset.called ?? one.querySelector("strong").textContent));
  if (found.length) tell(filled(texts.clash, { names: [...names].join(", ") }));
  else told.hidden = true;
}

// A text with its values.
function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

function tell(text, bad = true) {
  told.hidden = false;
  told.classList.toggle("bad", bad);
  told.textContent = text;
}

// The quarter of an hour at a position on the screen.
function quarter(track, left) {
  const box = track.getBoundingClientRect();
  return Math.round(((left - box.left) / box.width) * Number(track.dataset.quarters));
}

// How far a visit was dragged: by days in a week, by quarters of an hour in a day.
function minutes(booked, place, left) {
  if (!place.dataset.quarters || booked.dataset.at === undefined) return minutesBetween(booked, place);
  return (quarter(place, left) - Number(booked.dataset.at)) * 15;
}

function minutesBetween(one, other) {
  return Math.round((Date.parse(other.dataset.day) - Date.parse(one.dataset.day)) / 86400000) * 1440;
}

// The local time shifted by some minutes. A date stays a date.
function later(text, by) {
  const dated = text.length === 10;
  const moved = new Date(Date.parse(dated ? `${text}T00:00Z` : `${text.slice(0, 16)}Z`) + by * 60000).toISOString();
  return moved.slice(0, dated ? 10 : 16);
}
