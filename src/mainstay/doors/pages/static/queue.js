// The forms of a visit are kept on the phone until they have arrived, and are sent once, in order. Without JavaScript,
// or without a store, they are sent as any other form.

const panel = document.getElementById("waiting");
const { person } = panel.dataset;
const FORMS = 'form[action$="/start"], form[action$="/break"], form[action$="/finish"], form.note, form.drop';
// The server knows a form again for a day. Later than this, a person decides whether it is sent again.
const KNOWN_AGAIN = 23 * 3600 * 1000;
const MAX_SIDE = 2000;
const offline = !document.getElementById("offline").hidden;
// What the buttons of a visit are for once a form has been pressed.
const STEP_AFTER = { start: "working", break: "onBreak", finish: "finished" };
// How long a form may take to arrive before the phone says that it waits.
const PATIENCE = 1000;
const shownVisit = location.pathname.split("/")[3];
const stepOf = (kept) => STEP_AFTER[kept.path.split("/").pop()];

function openStore() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open("mainstay", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("forms", { keyPath: "id", autoIncrement: true });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function inStore(mode, act) {
  const database = await openStore();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction("forms", mode);
      const request = act(transaction.objectStore("forms"));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}
const put = (kept) => inStore("readwrite", (forms) => forms.put(kept));
const remove = (id) => inStore("readwrite", (forms) => forms.delete(id));
const list = async () => (await inStore("readonly", (forms) => forms.getAll())).filter((kept) => kept.person === person);

// A photo in the size that the office keeps, so that it arrives sooner. What is no picture stays as it is.
async function scale(file) {
  try {
    const picture = await createImageBitmap(file);
    const factor = Math.min(1, MAX_SIDE / Math.max(picture.width, picture.height));
    if (factor === 1) return file;
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(picture.width * factor);
    canvas.height = Math.round(picture.height * factor);
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob((blob) => resolve(blob ?? file), "image/jpeg", 0.85));
  } catch {
    return file;
  }
}

function newToken() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function keepForm(form, button) {
  const fields = [], files = [];
  for (const [name, value] of new FormData(form)) {
    if (value instanceof File) {
      // Its bytes: Firefox can't send a file that it has read from the store.
      if (value.size) files.push({ field: name, name: value.name, content: await (await scale(value)).arrayBuffer() });
    } else if (name !== "csrf" && name !== "once") fields.push([name, value]);
  }
  const kept = {
    person,
    path: form.getAttribute("action"),
    visit: form.getAttribute("action").match(/visit_[0-9A-Z]{26}/)[0],
    what: button.textContent.trim(),
    title: panel.dataset.visit,
    at: new Date().toISOString(),
    once: newToken(),
    isMultipart: form.enctype === "multipart/form-data",
    fields,
    files,
    triedAt: 0,
    problem: "",
    faults: [],
  };
  return put(kept);
}

// The token of this session's forms. None without a network, or if another person is signed in or nobody.
async function findToken() {
  try {
    const answer = await fetch("/today", { redirect: "manual" });
    if (!answer.ok) return null;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    return page.getElementById("waiting").dataset.person === person ? page.querySelector("[name=csrf]").value : null;
  } catch {
    return null;
  }
}

function post(kept, token) {
  const body = kept.isMultipart ? new FormData() : new URLSearchParams();
  for (const [name, value] of [["csrf", token], ["once", kept.once], ["at", kept.at], ...kept.fields]) body.append(name, value);
  for (const file of kept.files) body.append(file.field, new Blob([file.content]), file.name);
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", kept.path);
    request.upload.onprogress = (event) => {
      const bar = panel.querySelector(`[data-kept="${kept.id}"] progress`);
      if (bar) Object.assign(bar, { hidden: !kept.files.length, max: event.total, value: event.loaded });
    };
    request.onload = () => resolve(request);
    request.onerror = () => resolve(null);
    request.send(body);
  });
}

// What a refusal says: all of it, and what it says of single fields.
function problemOf(answer) {
  const page = new DOMParser().parseFromString(answer.responseText, "text/html");
  const faults = [...page.querySelectorAll("main .field .fault")].map((one) => [one.id.replace(/-fault$/, ""), one.textContent.trim()]);
  const found = [...page.querySelectorAll("main .fault, main .notice.bad:not([data-lost-files])")].filter((one) => !one.querySelector(".fault"));
  const shown = found.length ? found : [...page.querySelectorAll("main p:not(.crumb)")];
  const problem = shown.map((one) => one.textContent.replace(/^\s*!\s*/, "").trim()).filter(Boolean).join(" ");
  return { problem: problem || panel.dataset.refused, faults };
}

// Sends what waits, in order; of several tabs, one at a time. What follows a refused form of the same visit waits for it.
// Returns where the last form led, and the forms that were refused.
async function sendAll() {
  const waiting = (await list()).filter((kept) => !kept.problem);
  const held = new Set((await list()).filter((kept) => kept.problem).map((kept) => kept.visit));
  const token = waiting.length ? await findToken() : null;
  let led = null;
  for (const kept of token ? waiting : []) {
    if (held.has(kept.visit)) continue;
    if (kept.triedAt && Date.now() - kept.triedAt > KNOWN_AGAIN) {
      await put({ ...kept, triedAt: 0, once: newToken(), problem: panel.dataset.unsure });
      held.add(kept.visit);
      continue;
    }
    if (!kept.triedAt) await put({ ...kept, triedAt: Date.now() });
    const answer = await post(kept, token);
    if (!answer || answer.status === 0 || answer.status === 429 || answer.status >= 500) break;
    if (answer.status < 400) {
      await remove(kept.id);
      led = answer.responseURL;
    } else {
      await put({ ...kept, triedAt: 0, once: newToken(), ...problemOf(answer) });
      held.add(kept.visit);
    }
  }
  return led;
}
const send = () => navigator.locks.request("mainstay forms", sendAll);

async function show() {
  const all = await list();
  // What is corrected is in the form.
  const shown = all.filter((kept) => kept.id !== corrected?.id);
  panel.hidden = !shown.length;
  localStorage.setItem("waiting", all.length);
  panel.querySelector("ul").replaceChildren(...shown.map(showOne));
  panel.querySelector("[data-leaving]").hidden = location.hash !== "#sign-out";
  showStep(all);
}

// The last form of this visit that waits.
function lastStep(all) {
  return all.findLast((kept) => kept.visit === shownVisit && stepOf(kept));
}

// The buttons of the visit are those of the step that was pressed last, also if it has not arrived yet.
function showStep(all) {
  const bar = document.querySelector("[data-step]");
  if (!bar) return;
  const last = lastStep(all);
  const step = last ? stepOf(last) : bar.dataset.step;
  for (const one of bar.querySelectorAll("[data-when]")) one.hidden = !one.dataset.when.split(" ").includes(step);
  bar.hidden = step === "finished";
  bar.classList.toggle("runs", step === "working" && Boolean(bar.querySelector("[data-since]")));
  // The timer of a start that waits is not known here.
  const entry = bar.querySelector("[name=entry]");
  if (entry && last) entry.value = "";
}

// Where a form is corrected; a button has nothing to correct.
const correctionOf = (kept) =>
  /\/(start|break)$/.test(kept.path) ? null : `${kept.path.endsWith("/finish") ? kept.path : `/schedule/visits/${kept.visit}`}?correct=${kept.id}`;

function showOne(kept) {
  const row = panel.querySelector("template").content.cloneNode(true).firstElementChild;
  row.dataset.kept = kept.id;
  row.querySelector(".what").textContent = kept.what;
  row.querySelector("a").href = `/schedule/visits/${kept.visit}`;
  const time = new Date(kept.at).toLocaleTimeString([], { timeStyle: "short" });
  const texts = kept.fields.filter(([name]) => name === "text").map(([, value]) => value);
  row.querySelector(".sub").textContent = [kept.title, time, ...texts, ...kept.files.map((file) => file.name)].filter(Boolean).join(" · ");
  const fault = row.querySelector(".fault");
  fault.textContent = kept.problem;
  fault.hidden = !kept.problem;
  const correct = row.querySelector("[data-correct]");
  correct.hidden = !kept.problem || !correctionOf(kept);
  correct.href = correctionOf(kept) ?? kept.path;
  row.querySelector("[data-again]").hidden = !kept.problem;
  row.querySelector("[data-again]").addEventListener("click", async () => {
    await put({ ...kept, problem: "" });
    await sendAndShow();
  });
  row.querySelector("[data-drop]").addEventListener("click", async () => {
    await remove(kept.id);
    await sendAndShow();
  });
  return row;
}

// The form that is corrected gets what was typed, and says what was refused; its files are kept with it.
let corrected = null;
async function openCorrection() {
  const id = Number(new URLSearchParams(location.search).get("correct"));
  const kept = (await list()).find((one) => one.id === id);
  const form = kept && document.querySelector(`form[action="${kept.path}"]`);
  if (!form) return;
  corrected = kept;
  if (form.closest("details")) form.closest("details").open = true;
  for (const [name, value] of kept.fields) fillIn(form.elements[name], value);
  const names = form.querySelector("[data-kept-files]");
  if (names && kept.files.length) {
    names.textContent = names.dataset.keptFiles.replace("{names}", kept.files.map((file) => file.name).join(", "));
    names.hidden = false;
  }
  const problems = kept.faults.filter(([name, text]) => showFault(form.elements[name], text));
  if (!problems.length && kept.problem) form.prepend(makeFault(kept.problem));
  form.elements.endedAt?.dispatchEvent(new Event("input"));
}

function fillIn(field, value) {
  if (!field) return;
  if (field.type === "checkbox") field.checked = true;
  else field.value = value;
  if (value && field.closest("details")) field.closest("details").open = true;
}

function makeFault(text) {
  const fault = document.createElement("p");
  Object.assign(fault, { className: "fault", textContent: text });
  fault.setAttribute("role", "alert");
  return fault;
}

function showFault(field, text) {
  const around = field?.closest?.(".field");
  if (!around) return false;
  around.classList.add("wrong");
  field.setAttribute("aria-invalid", "true");
  const fault = makeFault(text);
  fault.id = `${field.id}-fault`;
  field.setAttribute("aria-describedby", [field.getAttribute("aria-describedby"), fault.id].filter(Boolean).join(" "));
  around.append(fault);
  if (!document.querySelector("[aria-invalid]:focus")) field.focus();
  return true;
}

async function sendAndShow() {
  await show();
  const led = await send();
  await show();
  return led;
}

// What has arrived meanwhile is shown, unless something is being typed.
async function sendLater() {
  const isTyped = [...document.querySelectorAll("main textarea, main input[type=file]")].some((field) => field.value);
  const isVisit = /^\/(today|schedule\/visits\/visit_[0-9A-Z]{26})$/.test(location.pathname);
  if ((await sendAndShow()) && isVisit && !isTyped) location.reload();
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || !form.matches(FORMS)) return;
  event.preventDefault();
  keepForm(form, event.submitter ?? form.querySelector("button")).then((id) => sendKept(form, id), () => form.submit());
});

async function sendKept(form, id) {
  if (corrected?.path === form.getAttribute("action")) {
    const kept = (await list()).find((one) => one.id === id);
    await put({ ...kept, files: [...corrected.files, ...kept.files] });
    await remove(corrected.id);
    corrected = null;
  }
  const patience = setTimeout(show, PATIENCE);
  const led = await send();
  clearTimeout(patience);
  if (led) return location.assign(led);
  const kept = (await list()).find((one) => one.id === id);
  // What was refused is corrected in its form; what waits leaves no form that could be sent twice.
  if (kept?.path.endsWith("/finish")) return location.assign(kept.problem ? correctionOf(kept) : `/schedule/visits/${kept.visit}`);
  delete form.dataset.sent;
  if (kept && !kept.problem) form.reset();
  await show();
  panel.scrollIntoView();
}

// The times to log are those of now and of a start that waits. A break that waits has logged them.
async function fillTimes() {
  const form = document.querySelector("[data-finish]");
  const last = lastStep(await list());
  if (!form?.elements.startedAt || corrected || !(offline || last)) return;
  if (last && stepOf(last) === "onBreak") return leaveOutTimes(form);
  const timeOf = (moment) => new Intl.DateTimeFormat("en-GB", { timeStyle: "short", timeZone: panel.dataset.zone }).format(moment);
  const dayOf = (moment) => new Intl.DateTimeFormat("en-CA", { timeZone: panel.dataset.zone }).format(moment);
  if (last && stepOf(last) === "working") {
    const { startedAt, seenStart, seenAt, on } = form.elements;
    startedAt.value = seenStart.value = timeOf(new Date(last.at));
    seenAt.value = last.at;
    on.value = dayOf(new Date(last.at));
  }
  form.elements.endedAt.value = timeOf(new Date());
  form.elements.endedAt.dispatchEvent(new Event("input"));
}

function leaveOutTimes(form) {
  form.querySelector("[data-times]").remove();
  form.querySelector("button[data-words]").textContent = form.querySelector("[data-words]").dataset.plain;
}

await openCorrection();
await fillTimes();
await sendAndShow();
addEventListener("online", sendLater);
setInterval(sendLater, 30000);
