// Lists. Filters apply at once: a chosen one with the next page, a typed text while someone types. Without JavaScript, a
// button applies them.

const filters = document.querySelector(".narrowing > form");
// The filter that was just chosen keeps the focus on the next page.
const chosen = sessionStorage.getItem("filter");
sessionStorage.removeItem("filter");
if (chosen) filters?.elements[chosen]?.focus();

filters?.addEventListener("change", (event) => {
  if (!event.target.matches("select")) return;
  sessionStorage.setItem("filter", event.target.name);
  filters.requestSubmit();
});

let waiting = null;
filters?.addEventListener("input", (event) => {
  if (event.target.type !== "search") return;
  clearTimeout(waiting);
  waiting = setTimeout(showFound, 250);
});

// Shows what the typed text finds, in place, so that the field keeps the focus.
async function showFound() {
  const query = new URLSearchParams([...new FormData(filters)].filter(([, value]) => value));
  const address = `${filters.action}?${query}`;
  const page = await readPage(address);
  const current = new URLSearchParams([...new FormData(filters)].filter(([, value]) => value));
  if (!page || `${query}` !== `${current}`) return;
  for (const part of ["#records", ".narrowing > .tabs", ".views", "main h1"]) {
    const shown = document.querySelector(part);
    const fresh = page.querySelector(part);
    if (shown && !fresh) return location.assign(address);
    shown?.replaceWith(document.importNode(fresh, true));
  }
  const links = page.querySelectorAll(".narrowing > form a");
  for (const [at, link] of filters.querySelectorAll("a").entries()) link.href = links[at].getAttribute("href");
  history.replaceState(history.state, "", address);
  document.dispatchEvent(new Event("listed"));
}

async function readPage(address) {
  try {
    return new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
  } catch {
    // No network. The text is sent with the form.
    return null;
  }
}

// Selected rows: how many, their sum, and what can be done with them. Without JavaScript, the buttons are below the list.
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-all-rows]")) for (const box of rowBoxes()) box.checked = event.target.checked;
  if (event.target.matches("[data-row], [data-all-rows]")) showSelection();
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-clear]")) clearSelection();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !document.querySelector("dialog[open], details.menu[open]")) clearSelection();
});
document.addEventListener("listed", showSelection);
addEventListener("pageshow", showSelection);
showSelection();

function rowBoxes() {
  return [...document.querySelectorAll("input[data-row]")];
}

function clearSelection() {
  if (!rowBoxes().some((box) => box.checked)) return;
  const bar = document.querySelector(".selection");
  if (bar.contains(document.activeElement)) rowBoxes().find((box) => box.checked).focus();
  for (const box of rowBoxes()) box.checked = false;
  showSelection();
}

function showSelection() {
  const bar = document.querySelector(".selection");
  if (!bar) return;
  const all = document.querySelector("[data-all-rows]");
  const selected = rowBoxes().filter((box) => box.checked);
  all.hidden = false;
  all.checked = selected.length === rowBoxes().length;
  all.indeterminate = selected.length > 0 && !all.checked;
  bar.classList.add("floating");
  bar.hidden = !selected.length;
  bar.querySelector("[data-clear]").hidden = false;
  const status = bar.querySelector("[data-count]");
  status.textContent = [status.dataset.count.replace("{count}", selected.length), sumOf(bar, selected)].filter(Boolean).join(" \u00B7 ");
  for (const [at, button] of bar.querySelectorAll("[data-label]").entries()) {
    const count = selected.filter((box) => box.dataset.row.split(" ").includes(`${at}`)).length;
    button.hidden = !count;
    button.textContent = button.dataset.label.replace("{count}", count);
  }
}

// The sum of the amounts of the selected rows, written like the sample: `£1,234,567.00`.
function sumOf(bar, selected) {
  const sample = bar.dataset.sum?.match(/^(\D*)1(\D*)234\D*567(?:(\D)(0+)(?!\d))?(.*)$/);
  if (!sample || !selected.every((box) => box.dataset.amount)) return "";
  const [, before, group, point = "", zeros = "", after] = sample;
  const inCoins = (amount) => {
    const [, sign, whole, part = ""] = amount.match(/^(-?)(\d+)(?:\.(\d+))?$/);
    return BigInt(sign + whole + part.padEnd(zeros.length, "0").slice(0, zeros.length));
  };
  const sum = selected.reduce((total, box) => total + inCoins(box.dataset.amount), 0n);
  const digits = `${sum < 0n ? -sum : sum}`.padStart(zeros.length + 1, "0");
  const whole = digits.slice(0, digits.length - zeros.length).replace(/\B(?=(\d{3})+$)/g, group);
  return `${sum < 0n ? "\u2212" : ""}${before}${whole}${point}${digits.slice(digits.length - zeros.length)}${after}`;
}
