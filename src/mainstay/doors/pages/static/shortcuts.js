// Keyboard shortcuts of the office. The page that lists them is also shown in a dialog, where they can be turned off,
// because single keys can get in the way of speech input.

let began = 0;
const isOff = () => localStorage.getItem("shortcuts") === "off";
const isTyping = (target) => target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], dialog");

const actions = {
  "/": findText,
  "?": showShortcuts,
  n: () => press("[data-key=n] > a, .side .menu.new > summary"),
  e: editRecord,
  x: selectRow,
};

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.altKey) return;
  if (event.ctrlKey || event.metaKey) {
    const key = event.key.toLowerCase();
    if ((key === "k" && findText()) || (key === "j" && press(".side .ask"))) event.preventDefault();
    return;
  }
  if (isOff() || isTyping(event.target)) return;
  // What follows `g` soon after says where to go.
  const goes = Date.now() - began < 1500;
  began = event.key === "g" && !goes ? Date.now() : 0;
  if (goes ? press(`.side [data-key="${CSS.escape(event.key)}"] > a`) : actions[event.key]?.()) event.preventDefault();
});

// The assistant's panel is only loaded when it is opened.
document.querySelector(".side .ask")?.addEventListener("click", async (event) => {
  const link = event.currentTarget;
  if (event.ctrlKey || event.metaKey || event.shiftKey || link.getAttribute("aria-current")) return;
  event.preventDefault();
  (await import(link.dataset.script)).openPanel(link);
});

function press(selector) {
  const found = document.querySelector(selector);
  found?.click();
  return found;
}

function findText() {
  const search = document.getElementById("search");
  // A phone has a page for it instead.
  if (!search?.checkVisibility()) return press("a.seek");
  search.focus();
  search.select();
  return search;
}

// The record of the page, or that of the row that has the focus.
function editRecord() {
  const row = document.activeElement.closest("tr");
  const links = ':is(a[href$="/edit"], a[data-edit])';
  const link = row ? row.querySelector(links) : document.querySelector(`main :is(.top, .field-tiles) ${links}`);
  link?.click();
  return link;
}

// Selects the row that has the focus, or goes to the first one.
function selectRow() {
  const box = document.activeElement.closest("tr")?.querySelector("input[data-row]");
  if (box) box.click();
  const found = box ?? document.querySelector("input[data-row]");
  found?.focus();
  return found;
}

function showShortcuts() {
  openDialog();
  return true;
}

async function openDialog() {
  const answer = await fetch("/shortcuts", { redirect: "manual" }).catch(() => null);
  const page = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("shortcuts");
  if (!page || document.querySelector("dialog[open]")) return;
  const dialog = document.createElement("dialog");
  dialog.className = "creating";
  dialog.setAttribute("aria-labelledby", "shortcuts-title");
  dialog.append(document.importNode(page, true));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  offerChoice(dialog);
  dialog.showModal();
}

function offerChoice(place) {
  for (const hidden of place.querySelectorAll("#shortcuts [hidden]")) hidden.hidden = hidden.matches("form") && place.nodeName !== "DIALOG";
  const box = place.querySelector("input[data-shortcuts-off]");
  if (!box) return;
  box.checked = isOff();
  box.addEventListener("change", () => localStorage.setItem("shortcuts", box.checked ? "off" : "on"));
}

offerChoice(document);
