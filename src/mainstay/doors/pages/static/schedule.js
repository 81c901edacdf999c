// Planning and moving visits by dragging or by keys: to a time and person, or to another length. All of it sends the same
// forms that plan and move a visit without JavaScript, and then loads the schedule again. The server decides whether
// something clashes. The page only warns of clashes with what it shows.

const told = document.getElementById("dragged");
// The texts that this script shows, in the language of the page.
const texts = told.dataset;
const hint = document.getElementById("by-keys");
const asked = document.getElementById("new-visit");
const MINUTES = 15;
// The length of a visit where someone clicks, in quarters of an hour.
const CLICKED = 4;
// The places for visits, by person: one per person in a day, seven in a week.
let places = [];
// What is dragged: a visit, or a job from the tray.
let held = null;
let resized = null;
let moved = null;
// The part of a day that is marked for a new visit.
let drawn = null;

wire();

// Scroll a day to its first working hours or visit. The hours before can be reached by scrolling back.
const day = document.querySelector(".day");
if (day) {
  const begins = [...day.querySelectorAll(".works, .track .booked[data-for]")].map((one) => one.getBoundingClientRect().left);
  const named = day.querySelector("h2").getBoundingClientRect().right;
  if (begins.length) day.scrollLeft = Math.min(...begins) - named;
}

// Make what the page shows movable. It is done again for each new board.
function wire() {
  places = [...document.querySelectorAll(".day .row, .week tbody tr")]
    .map((row) => [...row.querySelectorAll("[data-person]")])
    .filter((row) => row.length);
  for (const booked of document.querySelectorAll(".booked[draggable]")) {
    letDrag(booked, (event) => ({ booked, grip: event.offsetX }));
    if (places.length) letMove(booked);
    if (booked.dataset.for) letResize(booked);
  }
  for (const place of document.querySelectorAll("[data-person]")) {
    letDrop(place);
    if (asked) letDraw(place);
  }
  if (asked) document.querySelectorAll(".waiting").forEach(letSchedule);
}

function letDrag(element, hold) {
  element.addEventListener("dragstart", (event) => {
    if (resized) {
      event.preventDefault();
      return;
    }
    held = hold(event);
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", element.textContent.trim());
    element.classList.add("dragging");
    // The board may only change once the drag has begun.
    setTimeout(unfold);
  });
  element.addEventListener("dragend", () => {
    element.classList.remove("dragging");
    held = null;
  });
}

function letDrop(place) {
  place.addEventListener("dragover", (event) => {
    if (!held) return;
    event.preventDefault();
    place.classList.add("over");
    warn(place, held.booked ? clashes(place, held.booked, minutes(held.booked, place, event.clientX - held.grip)) : clashesOfJob(place, event));
  });
  place.addEventListener("dragleave", (event) => {
    if (!place.contains(event.relatedTarget)) leave(place);
  });
  place.addEventListener("drop", async (event) => {
    event.preventDefault();
    leave(place);
    const { booked, item, grip } = held ?? {};
    held = null;
    if (booked) await move(booked, place, event.clientX - grip);
    else if (item) await drop(item, place, event);
  });
}

// A job of the tray: it is dragged to a person, or planned with the small form.
function letSchedule(item) {
  item.draggable = true;
  letDrag(item, () => {
    findLength(item);
    return { item };
  });
  item.closest("aside").querySelector(".hint").hidden = false;
  item.querySelector(".plan").addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    askForJob(item);
  });
  item.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "s" || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    askForJob(item);
  });
}

async function askForJob(item) {
  ask({ job: item.dataset.job, minutes: await findLength(item) }, item);
}

// How long a visit of a job of the tray usually is, as its form says. It is asked once, as soon as the job is dragged.
const lengths = new Map();
function findLength(item) {
  if (!lengths.has(item)) lengths.set(item, readLength(item));
  return lengths.get(item);
}

async function readLength(item) {
  try {
    const path = document.getElementById("tray").dataset.form + new URL(item.querySelector(".plan").href).search;
    const form = new DOMParser().parseFromString(await (await fetch(path)).text(), "text/html");
    item.dataset.minutes = form.querySelector("[name=minutes]").value;
  } catch {
    // The usual length of any visit does.
  }
  return knownLength(item);
}

function knownLength(item) {
  return Number(item.dataset.minutes ?? document.getElementById("tray").dataset.minutes);
}

// A job that is dropped on a day begins there. In a week it is still asked when.
async function drop(item, place, event) {
  const start = place.dataset.quarters && clockAt(quarterUnder(place, event.clientX));
  const minutes = await findLength(item);
  const values = { job: item.dataset.job, person: place.dataset.person, day: place.dataset.day, minutes };
  if (place.dataset.quarters) {
    fillIn({ ...values, start });
    if (!(await plan())) await ask({}, place);
  } else ask(values, place);
}

function clashesOfJob(place, event) {
  if (!place.dataset.quarters) return [];
  const from = `${place.dataset.day}T${clockAt(quarterUnder(place, event.clientX))}`;
  return between(place, from, later(from, knownLength(held.item)));
}

// Mark empty time by clicking or dragging, and ask what is planned there. A finger that moves scrolls the page.
function letDraw(place) {
  const isEmpty = ({ target, button }) => !button && (target === place || target.matches(".works, .away, .now"));
  place.addEventListener("pointerdown", (event) => {
    if (!place.dataset.quarters || !isEmpty(event) || event.pointerType === "touch" || isList(place)) return;
    event.preventDefault();
    stopDrawing();
    draw(place, quarterUnder(place, event.clientX));
    place.setPointerCapture(event.pointerId);
  });
  place.addEventListener("pointermove", (event) => {
    if (drawn?.place === place && place.hasPointerCapture(event.pointerId)) stretchDrawn(quarterUnder(place, event.clientX));
  });
  place.addEventListener("click", (event) => {
    if (!isEmpty(event) || isList(place)) return;
    const values = { person: place.dataset.person, day: place.dataset.day };
    if (!place.dataset.quarters) return ask(values, place);
    if (drawn?.place !== place) draw(place, quarterUnder(place, event.clientX));
    ask({ ...values, start: clockAt(drawn.at), minutes: drawn.length * MINUTES }, drawn.item);
  });
}

// On a phone, a day is a list and not a board.
function isList(place) {
  return getComputedStyle(place).display === "block";
}

function draw(place, at) {
  const item = document.createElement("li");
  const length = Math.min(CLICKED, Number(place.dataset.quarters) - at);
  item.className = `drawn at-${at + 1} for-${length}`;
  place.append(item);
  drawn = { place, item, from: at, at, length };
}

function stretchDrawn(quarter) {
  if (quarter === drawn.from && drawn.length === CLICKED) return;
  const [at, last] = [Math.min(quarter, drawn.from), Math.max(quarter, drawn.from)];
  drawn.item.classList.replace(`at-${drawn.at + 1}`, `at-${at + 1}`);
  drawn.item.classList.replace(`for-${drawn.length}`, `for-${last - at + 1}`);
  Object.assign(drawn, { at, length: last - at + 1 });
}

function stopDrawing() {
  drawn?.item.remove();
  drawn = null;
}

// Open the small form, with what is known already, beside what it is about.
function ask(values, near) {
  fillIn(values);
  const problem = asked.querySelector(".notice");
  if (!problem.textContent) problem.hidden = true;
  asked.show();
  const [box, own] = [near.getBoundingClientRect(), asked.getBoundingClientRect()];
  const below = box.bottom + 8 + own.height < innerHeight ? box.bottom + 8 : Math.max(box.top - own.height - 8, 8);
  asked.style.top = `${Math.min(below, innerHeight - own.height - 8)}px`;
  asked.style.left = `${Math.min(Math.max(box.left, 8), innerWidth - own.width - 8)}px`;
  asked.querySelector(asked.querySelector("[name=jobId]").value ? "[name=person]" : "[name=jobId]").focus();
}

function fillIn({ job, person, day, start, minutes }) {
  const set = (name, value) => {
    if (value !== undefined) asked.querySelector(`[name=${name}]`).value = value;
  };
  if (minutes !== undefined && !asked.querySelector(`[name=minutes] option[value="${minutes}"]`)) {
    const words = `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}`;
    asked.querySelector("[name=minutes]").append(new Option(words, minutes));
  }
  for (const [name, value] of Object.entries({ jobId: job, person, day, start, minutes })) set(name, value);
}

if (asked) {
  asked.addEventListener("submit", async (event) => {
    event.preventDefault();
    await plan();
  });
  asked.addEventListener("close", clearForm);
  // What was wrong with another time or person would be read as wrong with this one.
  asked.addEventListener("input", () => { asked.querySelector(".notice").hidden = true; });
  asked.addEventListener("keydown", (event) => {
    if (event.key === "Escape") asked.close();
  });
  asked.querySelector("[data-close]").addEventListener("click", () => asked.close());
  // The full form begins with what was typed.
  asked.querySelector("[data-more]").addEventListener("click", (event) => {
    const typed = Object.fromEntries(new FormData(asked.querySelector("form")));
    const values = { jobId: typed.jobId, startsAt: `${typed.day}T${typed.start}`, durationMinutes: typed.minutes };
    if (typed.person) values[`personIds ${typed.person}`] = "on";
    event.currentTarget.href = `${event.currentTarget.pathname}?${new URLSearchParams(values)}`;
  });
}

function clearForm() {
  stopDrawing();
  asked.querySelector("[name=jobId]").value = "";
  asked.querySelector(".notice").textContent = "";
}

// Send the small form. If it is refused, it says why.
async function plan() {
  const form = asked.querySelector("form");
  tell(texts.planning, false);
  let problem = texts.notPlanned;
  try {
    const fields = new URLSearchParams(new FormData(form));
    const answer = await fetch(form.action, { method: "POST", body: fields, redirect: "manual" });
    if (answer.type === "opaqueredirect") {
      asked.close();
      clearForm();
      await refresh("plan_visit");
      return true;
    }
    problem = problemOf(parsed(await answer.text())) || problem;
  } catch {
    problem = texts.offline;
  }
  told.hidden = true;
  const notice = asked.querySelector(".notice");
  notice.hidden = false;
  notice.textContent = problem;
  return false;
}

// The change that was just made is undone without leaving the schedule.
document.addEventListener("submit", async (event) => {
  if (event.target.id !== "undo") return;
  event.preventDefault();
  try {
    const fields = new URLSearchParams(new FormData(event.target));
    const answer = await fetch(event.target.action, { method: "POST", body: fields, redirect: "manual" });
    if (answer.type === "opaqueredirect") await refresh("undo_change");
    else tell(problemOf(parsed(await answer.text())) || texts.notUndone);
  } catch {
    tell(texts.offline);
  }
});

// Show the schedule as it is now, with the notice of what was done. Who no longer sees it is shown why.
async function refresh(done, focused = "") {
  const here = new URL(location.href);
  here.searchParams.set("done", done);
  const page = parsed(await (await fetch(here)).text());
  const board = page.getElementById("board");
  if (!board) return location.reload();
  const left = document.querySelector(".day")?.scrollLeft;
  const isUnfolded = document.querySelector(".folded")?.open;
  document.getElementById("undo")?.remove();
  for (const id of ["board", "tray", "told"]) {
    const fresh = page.getElementById(id);
    if (fresh) document.getElementById(id)?.replaceChildren(...fresh.childNodes);
  }
  const undo = page.getElementById("undo");
  if (undo) document.getElementById("told").after(undo);
  for (const token of ["csrf", "once"]) {
    if (asked) asked.querySelector(`[name=${token}]`).value = page.querySelector(`#new-visit [name=${token}]`).value;
  }
  told.hidden = true;
  resized = moved = null;
  stopDrawing();
  if (isUnfolded) unfold();
  if (left !== undefined) document.querySelector(".day").scrollLeft = left;
  wire();
  letClose();
  const again = focused && document.querySelector(`.booked[href="${CSS.escape(focused)}"]`);
  if (again) focusOn(again);
}

// Focus a visit, and keep it in sight: of what moves within a page, not every browser does so by itself.
function focusOn(booked) {
  booked.focus();
  booked.scrollIntoView({ block: "nearest", inline: "nearest" });
}

// The notice lies over the board, so it can be closed.
function letClose() {
  const notice = document.querySelector("#told .notice.good");
  if (!notice) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "slim close";
  button.setAttribute("aria-label", texts.close);
  button.textContent = "\u00D7";
  button.addEventListener("click", () => notice.remove());
  notice.append(button);
}
letClose();

function parsed(text) {
  return new DOMParser().parseFromString(text, "text/html");
}

// Why the page of a form refuses what was sent.
function problemOf(page) {
  const faults = [...page.querySelectorAll("main .fault")].map((one) => one.textContent.trim());
  const whole = page.querySelector("main .notice.bad") ?? page.querySelector("main .lead");
  const found = faults.length ? faults.join(" ") : whole?.textContent ?? "";
  return found.replace(/^[\s!✕]+/, "").trim();
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
  for (const name of ["startsAt", "on"]) {
    if (fields.get(name)) fields.set(name, later(fields.get(name), by));
  }
}

// Make the visit longer by some minutes.
function stretch(fields, by) {
  if (by) fields.set("durationMinutes", Number(fields.get("durationMinutes")) + by);
}

// Fill in the form that moves a visit, and send it.
async function send(booked, change, focused = "") {
  tell(texts.moving, false);
  try {
    const page = await fetch(formPathOf(booked));
    const form = parsed(await page.text()).querySelector("main form[method=post]");
    if (!form) throw new Error("no form");
    const fields = new URLSearchParams(new FormData(form));
    const dated = [...form.querySelectorAll("[data-date]")].filter((field) => field.value);
    for (const { name, value, dataset } of dated) {
      const time = fields.get(`${name} time`);
      fields.set(name, isoOf(value, dataset.date) + (time ? `T${time}` : ""));
    }
    change(fields);
    for (const { name, dataset } of dated) {
      const [day, time] = fields.get(name).split("T");
      fields.set(name, asTyped(day, dataset.date));
      if (time) fields.set(`${name} time`, time);
    }
    const answer = await fetch(formPathOf(booked), { method: "POST", body: fields, redirect: "manual" });
    if (answer.type === "opaqueredirect") {
      await refresh("move_visit", focused);
      return true;
    }
    tell(problemOf(parsed(await answer.text())) || texts.notMoved);
    told.append(" ", formOf(booked));
  } catch {
    tell(texts.offline);
  }
  return false;
}

// A date as ISO 8601, from a field that shows it as in this example: `dd/mm/yyyy`.
function isoOf(shown, example) {
  return ["yyyy", "mm", "dd"].map((part) => shown.slice(example.indexOf(part), example.indexOf(part) + part.length)).join("-");
}

// The reverse.
function asTyped(iso, example) {
  const parts = { yyyy: iso.slice(0, 4), mm: iso.slice(5, 7), dd: iso.slice(8, 10) };
  return Object.entries(parts).reduce((text, [part, number]) => text.replace(part, number), example);
}

// The form that moves a visit.
function formPathOf(booked) {
  return `${booked.getAttribute("href")}/move`;
}

// The link to that form, which offers more than dragging does: to book someone twice.
function formOf(booked) {
  const way = document.createElement("a");
  way.href = `${formPathOf(booked)}#allowOverlap`;
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
  const more = (resized.length - resized.before) * MINUTES;
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
  const done = await send(booked, (fields) => stretch(fields, (length - before) * MINUTES), booked.getAttribute("href"));
  if (!done) putBack();
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
  const begins = minutesBetween(home.place, placeOf(moved)) + (at - home.at) * MINUTES;
  return { begins, ends: begins + (length - home.length) * MINUTES };
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
  const change = (fields) => {
    shift(fields, place.dataset.person, begins);
    stretch(fields, ends - begins);
  };
  if (!(await send(booked, change, booked.getAttribute("href")))) putHome();
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
  if (focused) focusOn(booked);
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
  return between(place, from, later(booked.dataset.until, ends)).filter((other) => other !== booked);
}

// What the page shows of the same person between two times.
function between(place, from, until) {
  const entries = [...place.parentElement.querySelectorAll("[data-from]")];
  return entries.filter((one) => one.dataset.from < until && from < one.dataset.until);
}

function warn(place, found) {
  if (!place.dataset.person) found = [];
  place.classList.toggle("clash", found.length > 0);
  // Time off of several days is shown on each of them.
  const names = new Set(found.map((one) => one.dataset.title ?? one.querySelector("strong").textContent));
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

// The quarter of an hour nearest to a position on the screen.
function quarter(track, left) {
  const box = track.getBoundingClientRect();
  return Math.round(((left - box.left) / box.width) * Number(track.dataset.quarters));
}

// The quarter of an hour under a position on the screen.
function quarterUnder(track, left) {
  const box = track.getBoundingClientRect();
  return within(Math.floor(((left - box.left) / box.width) * Number(track.dataset.quarters)), Number(track.dataset.quarters));
}

// The time at which a quarter of the hours shown begins.
function clockAt(quarters) {
  const hour = document.querySelectorAll(".clock span")[Math.floor(quarters / 4)].textContent;
  return later(`2000-01-01T${hour}`, (quarters % 4) * MINUTES).slice(11);
}

// How far a visit was dragged: by days in a week, by quarters of an hour in a day.
function minutes(booked, place, left) {
  if (!place.dataset.quarters || booked.dataset.at === undefined) return minutesBetween(booked, place);
  return (quarter(place, left) - Number(booked.dataset.at)) * MINUTES;
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
