// Small improvements. Every page works without them.

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  const words = button.textContent;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      button.textContent = button.dataset.copied;
    } catch {
      // If the clipboard may not be used, at least select the text.
      getSelection().selectAllChildren(source);
      button.textContent = button.dataset.selected;
    }
    setTimeout(() => { button.textContent = words; }, 2000);
  });
}

// Ignore a second click while the form is being sent. A page that is shown again can be sent again.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// The browser points at a field that is not filled in well. It could not, if the field were behind a closed row.
document.addEventListener("invalid", (event) => {
  const closed = event.target.closest("details:not([open])");
  if (closed) closed.open = true;
}, true);

// Remove the notice from the address, so that reloading the page or coming back neither shows nor sends anything again.
const here = new URL(location.href);
here.searchParams.delete("done");
history.replaceState(history.state, "", here);

// A date is typed in the order of its placeholder. The browser's calendar fills it in.
for (const field of document.querySelectorAll("[data-date]")) {
  const timed = field.dataset.date.endsWith("hh:mm");
  const order = field.dataset.date.match(/d+|m+(?!:)|y+/g).slice(0, 3);
  const sign = field.dataset.date.match(/[-./]/)[0];
  const calendar = document.createElement("input");
  calendar.type = timed ? "datetime-local" : "date";
  calendar.className = "calendar";
  calendar.tabIndex = -1;
  calendar.setAttribute("aria-hidden", "true");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "slim";
  button.textContent = "\u25BE";
  button.setAttribute("aria-label", document.body.dataset.calendar);
  button.addEventListener("click", () => {
    const [day, time] = field.value.trim().split(/\s+/);
    const parts = Object.fromEntries(order.map((part, place) => [part[0], (day ?? "").split(sign)[place]]));
    calendar.value = `${parts.y}-${parts.m}-${parts.d}${timed ? `T${time ?? "08:00"}` : ""}`;
    calendar.showPicker();
  });
  calendar.addEventListener("change", () => {
    if (!calendar.value) return;
    const [day, time] = calendar.value.split("T");
    const [y, m, d] = day.split("-");
    const parts = { y, m, d };
    field.value = order.map((part) => parts[part[0]]).join(sign) + (timed ? ` ${time}` : "");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  field.parentElement.append(button, calendar);
}

const menus = document.querySelectorAll("details.menu");
document.addEventListener("click", (event) => {
  for (const menu of menus) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of menus) {
    if (menu.open) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  }
});

// Search while someone types. Only the results of the latest search are shown. If there are more, the text that was
// searched for is passed on with them.
function whileTyping(input, asked, show) {
  let waiting = null;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const text = input.value.trim();
      if (text.length < 2) return show([], "");
      try {
        const answer = await fetch(`/find?${new URLSearchParams({ ...asked, text })}`, { redirect: "manual" });
        if (!answer.ok) return;
        const { hits, hasMore } = await answer.json();
        if (input.value.trim() === text) show(hits, hasMore ? text : "");
      } catch {
        // No network. The server searches when the form is sent.
      }
    }, 150);
  });
}

// Suggestions for a field that refers to a record. Without JavaScript, the form asks again if the text was not clear.
function offerRecords(input) {
  const { find: kind, status = "" } = input.dataset;
  // The hidden field for the id of the chosen record, if there is one: several records may have the same title.
  const meant = input.parentElement.querySelector("[data-meant]");
  const offered = new Map();
  whileTyping(input, { kind, status }, (hits) => {
    if (!hits.length) return;
    const called = hits.map((hit) => hit.title);
    offered.clear();
    const options = hits.map((hit) => {
      const option = document.createElement("option");
      option.label = hit.detail ? `${hit.title} · ${hit.detail}` : hit.title;
      option.value = called.filter((title) => title === hit.title).length > 1 ? option.label : hit.title;
      // Entries with the same text get a dot at the end, so that each can be picked.
      while (offered.has(option.value)) option.value += " ·";
      offered.set(option.value, hit.id);
      return option;
    });
    input.list.replaceChildren(...options);
  });
  input.addEventListener("input", () => {
    if (meant && offered.has(input.value)) meant.value = `${offered.get(input.value)} ${input.value}`;
  });
}
for (const input of document.querySelectorAll("input[data-find]")) offerRecords(input);

// Adds a row to a list in a form. Without JavaScript, the form has some empty rows.
for (const button of document.querySelectorAll("[data-add-row]")) {
  const list = button.closest(".rows");
  const full = () => list.querySelectorAll(".line").length >= Number(list.dataset.most || Infinity);
  button.hidden = full();
  button.addEventListener("click", () => {
    const last = [...list.querySelectorAll(".line")].at(-1);
    const fresh = last.cloneNode(true);
    const number = Number(last.querySelector("[name]").name.slice(list.id.length + 1).split(".")[0]);
    const [before, after] = [number, number + 1].map((at) => `${list.id}.${at}.`);
    fresh.ariaLabel = last.ariaLabel.replace(/\d+$/, (row) => Number(row) + 1);
    for (const element of fresh.querySelectorAll("*")) {
      for (const name of ["id", "name", "for", "list"]) {
        const value = element.getAttribute(name);
        if (value) element.setAttribute(name, value.replace(before, after));
      }
      for (const name of ["aria-describedby", "aria-invalid", "autofocus"]) element.removeAttribute(name);
      element.classList.remove("wrong");
      if ("value" in element && element.type !== "checkbox") element.value = "";
      if (element.type === "checkbox") element.checked = false;
    }
    for (const fault of fresh.querySelectorAll(".fault")) fault.remove();
    last.after(fresh);
    for (const input of fresh.querySelectorAll("input[data-find]")) offerRecords(input);
    fresh.querySelector("[name]").focus();
    button.hidden = full();
  });
}

// The search shows records while someone types. Without JavaScript, it leads to the page of results.
for (const form of document.querySelectorAll("form[role=search]")) suggest(form);

function suggest(form) {
  const input = form.querySelector("input[type=search]");
  const found = made("div", { id: `${input.id}-found`, class: "found", role: "listbox", "aria-label": document.body.dataset.found });
  let chosen = null;
  found.hidden = true;
  form.append(found);
  const told = { role: "combobox", autocomplete: "off", "aria-autocomplete": "list", "aria-controls": found.id, "aria-expanded": false };
  for (const [name, value] of Object.entries(told)) input.setAttribute(name, value);

  whileTyping(input, {}, (hits, more) => {
    choose(null);
    const seen = hits.filter((hit) => hit.url);
    const kinds = [...new Set(seen.map((hit) => hit.kind))];
    found.replaceChildren(...kinds.map((kind, at) => group(kind, `${found.id}-${at}`, seen.filter((hit) => hit.kind === kind))));
    if (more) found.append(option(`${found.id}-all`, `${form.action}?${new URLSearchParams({ text: more })}`, document.body.dataset.all));
    open(found.children.length > 0);
  });

  function group(kind, id, hits) {
    const whole = made("div", { role: "group", "aria-labelledby": id });
    const options = hits.map((hit, at) => option(`${id}-${at}`, hit.url, hit.title, hit.detail));
    whole.append(made("div", { id, class: "kind", role: "presentation" }, kind), ...options);
    return whole;
  }

  // A real link, so that it can be opened in a new tab. The arrow keys choose it from the search field.
  function option(id, href, title, detail) {
    const link = made("a", { id, href, role: "option", tabindex: -1, "aria-selected": false }, title);
    if (detail) link.append(" ", made("span", { class: "sub" }, detail));
    return link;
  }

  function open(isOpen) {
    found.hidden = !isOpen;
    input.setAttribute("aria-expanded", isOpen);
    if (!isOpen) choose(null);
  }

  function choose(link) {
    chosen?.setAttribute("aria-selected", false);
    chosen = link;
    chosen?.setAttribute("aria-selected", true);
    chosen?.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", chosen?.id ?? "");
  }

  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && !found.hidden) open(false);
    else if (event.key === "Enter" && chosen) chosen.click();
    else if (step && found.children.length) {
      // After the last result comes the typed text, then the first result.
      const links = [null, ...found.querySelectorAll("[role=option]")];
      open(true);
      choose(links.at((links.indexOf(chosen) + step) % links.length));
    } else return;
    event.preventDefault();
  });
  // Pressing on a result or scrolling keeps the focus in the search field.
  found.addEventListener("mousedown", (event) => event.preventDefault());
  form.addEventListener("focusout", (event) => {
    if (!form.contains(event.relatedTarget)) open(false);
  });
}

function made(name, attributes, text = "") {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  element.textContent = text;
  return element;
}

// A key moves the focus to the search.
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  const asked = (event.key === "/" && !typing) || (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey));
  const search = document.getElementById("search");
  if (!asked || !search) return;
  event.preventDefault();
  search.focus();
  search.select();
});
