// The total of lines follows while one types or picks them. In the line editor, lines are added, moved, removed and saved
// without loading the page again. The server does all of it; without this script, each button loads the page.

const PAUSE = 300;
const COSTS = "lines-costs";
const main = document.querySelector("main");
let waiting = null;
let asked = 0;
let busy = false;
let native = false;
// Whether the pressed key was Enter, after which one goes on with the next line.
let entered = false;

const editor = () => main.querySelector("form.line-editor");
const rowOf = (element) => element.closest?.(".line-row");

function prepare() {
  const form = editor();
  for (const button of form.querySelectorAll(".line-does button[value^=up], .line-does button[value^=down]")) button.tabIndex = -1;
  const box = form.querySelector("[data-costs]");
  if (!box) return;
  box.checked = localStorage.getItem(COSTS) === "yes" || form.querySelector("[data-cell=discountPercent] .fault, [data-cell=cost] .fault") !== null;
  box.closest("label").hidden = false;
  form.classList.toggle("lean", !box.checked);
}

function say(state) {
  const status = main.querySelector(".save-state");
  if (status) status.textContent = state && status.dataset[state];
}

// The totals of what is typed, by the rules of the server.
async function updateTotals(form) {
  asked += 1;
  const mine = asked;
  const fields = new URLSearchParams(new FormData(form));
  fields.delete("once");
  try {
    const answer = await fetch(form.dataset.totals, { method: "POST", body: fields, redirect: "manual" });
    if (!answer.ok || mine !== asked) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("sums");
    if (fresh) document.getElementById("sums").replaceWith(fresh);
  } catch {
    // No network. Saving will show that.
  }
}

async function save(form, button) {
  busy = true;
  clearTimeout(waiting);
  asked += 1;
  const sent = new FormData(form, button);
  const focused = document.activeElement;
  const [verb, line] = button.value.split(" ");
  const neighbour = verb === "remove" ? rowOf(button).nextElementSibling?.querySelector("textarea, input")?.id : null;
  let page = null;
  try {
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(sent) });
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    // The browser says that there is no network.
  }
  busy = false;
  const fresh = page?.querySelector("main form.line-editor");
  if (!fresh) {
    native = true;
    form.requestSubmit(button);
    return;
  }
  // What was typed while it was being saved stays, and is in the total.
  let typed = false;
  for (const [name, value] of new FormData(form)) {
    const field = fresh.elements.namedItem(name);
    if (sent.get(name) === value || !field?.matches?.("input:not([type=hidden]), textarea")) continue;
    field.value = value;
    typed = true;
  }
  const next = fresh.querySelector("[autofocus]")?.id ?? (entered ? "new-description" : neighbour ?? focused?.id);
  main.replaceChildren(...page.querySelector("main").childNodes);
  main.dispatchEvent(new CustomEvent("filled"));
  prepare();
  const same = next ? document.getElementById(next) : editor().querySelector(`button[value="${verb} ${line}"]`);
  same?.focus();
  if (typed) followTotals(editor());
  if (!main.querySelector(".notice.bad")) say(typed ? "changed" : "saved");
}

main.addEventListener("input", (event) => {
  if (event.target.matches("[data-costs]")) {
    localStorage.setItem(COSTS, event.target.checked ? "yes" : "no");
    editor().classList.toggle("lean", !event.target.checked);
    return;
  }
  const form = event.target.closest("form");
  if (event.target.matches(".line-row [data-find]")) showPrice(rowOf(event.target), null);
  if (form?.matches(".line-editor")) say("changed");
  followTotals(form);
});

function followTotals(form) {
  if (!form?.dataset.totals) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => updateTotals(form), PAUSE);
}

main.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!event.target.matches("form.line-editor[data-totals]") || native || !button || ["done", "send"].includes(button.value)) return;
  event.preventDefault();
  delete event.target.dataset.sent;
  if (!busy) save(event.target, button);
});

// An item of the price list has its price, so one goes on with the quantity; a line of its own needs one.
main.addEventListener("picked", (event) => {
  const row = rowOf(event.target);
  if (row) {
    showPrice(row, event.detail);
    clearFaults(row);
    row.querySelector("[name$=quantity]").focus();
  }
  followTotals(event.target.form);
});

// An item fills in what is left empty, which shows it meanwhile.
function showPrice(row, item) {
  row.querySelector("[name$=unitPrice]").placeholder = item?.price ?? "";
  row.querySelector("[name$=unit]").placeholder = item?.unit ?? "";
}

// The item has what was missing.
function clearFaults(row) {
  for (const field of row.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  for (const fault of row.querySelectorAll(".fault")) fault.remove();
  if (!editor()?.querySelector(".fault")) main.querySelector(".notice.bad")?.remove();
}

main.addEventListener("free", (event) => rowOf(event.target).querySelector("[name$=unitPrice]").focus());

main.addEventListener("keydown", (event) => {
  const row = rowOf(event.target);
  entered = event.key === "Enter" && event.target.matches("input, textarea, select");
  if (!row || event.defaultPrevented || event.isComposing || !editor()?.dataset.totals) return;
  if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
    event.preventDefault();
    row.querySelector(`.line-does button[value^=${event.key === "ArrowUp" ? "up" : "down"}]:enabled`)?.click();
  } else if (event.key === "Enter" && !event.shiftKey && event.target.matches("textarea")) {
    // As in any other field. Shift and Enter begin a new line of the text.
    event.preventDefault();
    editor().requestSubmit(editor().querySelector("button[value=save]"));
  }
});

if (editor()) prepare();
