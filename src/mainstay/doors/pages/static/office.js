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

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
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

// A link within the page opens the closed row that its target is in, and leads into the field.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  const target = link && document.getElementById(link.hash.slice(1));
  const closed = target?.closest("details:not([open])");
  if (closed) closed.open = true;
});

// Remove the notice from the address, so that reloading the page or coming back neither shows nor sends anything again.
const here = new URL(location.href);
here.searchParams.delete("done");
history.replaceState(history.state, "", here);

// A date is typed in the order of its placeholder. The browser's calendar fills it in.
for (const field of document.querySelectorAll("[data-date]")) addCalendar(field);

function addCalendar(field) {
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

// Routes open in the map app that each phone has: on Apple's devices theirs, and elsewhere the one of the link.
if (/iPhone|iPad|iPod/.test(navigator.userAgent) || (navigator.platform === "MacIntel" && navigator.maxTouchPoints > 1)) {
  for (const link of document.querySelectorAll("a[href^='https://www.google.com/maps/dir/']")) {
    const { destination, waypoints } = Object.fromEntries(new URL(link.href).searchParams);
    const stops = waypoints?.split("|").map((stop) => ["waypoint", stop]) ?? [];
    link.href = stops.length
      ? `https://maps.apple.com/directions?${new URLSearchParams([...stops, ["destination", destination], ["mode", "driving"]])}`
      : `https://maps.apple.com/?${new URLSearchParams({ daddr: destination, dirflg: "d" })}`;
  }
}

const openMenus = () => document.querySelectorAll("details.menu[open]");
document.addEventListener("click", (event) => {
  for (const menu of openMenus()) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of openMenus()) {
    menu.open = false;
    menu.querySelector("summary").focus();
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
      const answer = await findRecords({ ...asked(), text });
      if (answer && input.value.trim() === text) show(answer.hits, answer.hasMore ? text : "");
    }, 150);
  });
}

async function findRecords(asked) {
  try {
    const answer = await fetch(`/find?${new URLSearchParams(asked)}`, { redirect: "manual" });
    return answer.ok ? await answer.json() : null;
  } catch {
    // No network. The server searches when the form is sent.
    return null;
  }
}

// The list below an input, with what is found. The arrow keys choose in it, and Enter takes what is chosen.
function listBelow(input, host) {
  const found = made("div", { id: `${input.id}-found`, class: "found", role: "listbox", "aria-label": document.body.dataset.found });
  let chosen = null;
  found.hidden = true;
  host.append(found);
  const told = { role: "combobox", autocomplete: "off", "aria-autocomplete": "list", "aria-controls": found.id, "aria-expanded": false };
  for (const [name, value] of Object.entries(told)) input.setAttribute(name, value);

  function open(isOpen) {
    found.hidden = !isOpen;
    input.setAttribute("aria-expanded", isOpen);
    if (!isOpen) choose(null);
  }

  function choose(option) {
    chosen?.setAttribute("aria-selected", false);
    chosen = option;
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
      const options = [null, ...found.querySelectorAll("[role=option]")];
      open(true);
      choose(options.at((options.indexOf(chosen) + step) % options.length));
    } else return;
    event.preventDefault();
  });
  // Pressing on a result or scrolling keeps the focus in the input.
  found.addEventListener("mousedown", (event) => event.preventDefault());
  host.addEventListener("focusout", (event) => {
    if (!host.contains(event.relatedTarget)) open(false);
  });

  return {
    id: found.id,
    open,
    show(children) {
      choose(null);
      found.replaceChildren(...children);
      open(children.length > 0);
    },
  };
}

// The field of a form that refers to a record of some kind, and the customer that is chosen in the form.
const fieldFor = (form, kind) => form.querySelector(`[data-find="${kind}"], [data-pick="${kind}"]`);
function customerIn(form) {
  const field = form && fieldFor(form, "customer");
  if (!field) return "";
  if (field.dataset.pick) return field.value;
  const [id, ...title] = (meantBy(field)?.value ?? "").split(" ");
  return title.join(" ") === field.value ? id : "";
}

// The hidden field for the id of the chosen record, if there is one: several records may have the same title.
const meantBy = (input) => input.closest(".picker")?.parentElement.querySelector("[data-meant]") ?? null;

// Suggestions for a field that refers to a record. Without JavaScript, the form asks again if the text was not clear.
function offerRecords(input) {
  const { find: kind, status = "" } = input.dataset;
  let host = input.closest(".picker");
  if (!host) {
    const hadFocus = document.activeElement === input;
    host = made("span", { class: "picker" });
    input.replaceWith(host);
    host.append(input);
    if (hadFocus) input.focus();
  }
  host.querySelector(".found")?.remove();
  const meant = meantBy(input);
  const adder = input.closest(".field")?.querySelector("[data-new]");
  // What is offered before anyone types: the records of the customer, or what the page suggests.
  const usual = [...(input.list?.options ?? [])].map((one) => ({ title: one.value, detail: one.textContent }));
  input.list?.remove();
  input.removeAttribute("list");
  const below = listBelow(input, host);
  const customer = () => (kind === "customer" ? "" : customerIn(input.form));
  const asked = () => Object.fromEntries(Object.entries({ kind, status, customerId: customer() }).filter(([, value]) => value));

  function show(hits) {
    const text = input.value.trim();
    const titles = hits.map((hit) => hit.title);
    const options = hits.map((hit, at) => {
      const option = made("div", { id: `${below.id}-${at}`, role: "option", "aria-selected": false }, hit.title);
      if (hit.detail) option.append(" ", made("span", { class: "sub" }, hit.detail));
      // Without a field for the id, the detail says which of several is meant.
      const isUnclear = !meant && hit.detail && titles.filter((title) => title === hit.title).length > 1;
      const title = isUnclear ? `${hit.title} · ${hit.detail}` : hit.title;
      option.addEventListener("click", () => take(hit.id, hit[input.dataset.takes] ?? title, hit));
      return option;
    });
    if (adder && text) {
      const option = made("div", { id: `${below.id}-new`, class: "adds", role: "option", "aria-selected": false }, `${adder.firstChild.data.trim()} “${text}”`);
      option.addEventListener("click", () => createRecord(adder, text, take));
      options.push(option);
    }
    if (input.dataset.free && text) {
      const option = made("div", { id: `${below.id}-free`, class: "adds", role: "option", "aria-selected": false }, input.dataset.free.replace("{text}", text));
      option.addEventListener("click", () => {
        input.value = text;
        if (meant) meant.value = `free ${text}`;
        below.open(false);
        input.dispatchEvent(new CustomEvent("free", { bubbles: true }));
      });
      options.push(option);
    }
    below.show(options);
  }

  function take(id, title, hit = null) {
    input.value = title;
    if (meant && id) meant.value = `${id} ${title}`;
    below.open(false);
    input.dispatchEvent(new Event("change", { bubbles: true }));
    input.dispatchEvent(new CustomEvent("picked", { bubbles: true, detail: hit }));
  }

  whileTyping(input, asked, (hits) => (input.value.trim() ? show(hits) : offerUsual()));
  input.addEventListener("focus", () => { if (!input.value) offerUsual(); });
  async function offerUsual() {
    const answer = customer() ? await findRecords(asked()) : { hits: usual };
    if (answer && !input.value && document.activeElement === input) show(answer.hits);
  }
  adder?.addEventListener("click", (event) => {
    event.preventDefault();
    createRecord(adder, input.value.trim(), take);
  });
  if (kind === "customer" && input.form) input.addEventListener("change", () => followCustomer(input.form));
}

// The lead and the site of the customer's last job, as when the form is opened from their page. What someone chose stays.
const isUntouched = (field) => !field.value || field.selectedOptions?.[0].defaultSelected;
async function followLastJob(form, customerId) {
  const { leadPersonId: lead, siteId: site } = form.elements;
  if (!lead?.matches?.("select") || !isUntouched(lead)) return;
  const page = await readPage(`${location.pathname}?${new URLSearchParams({ customerId })}`);
  for (const field of [lead, site]) {
    const known = field && page?.querySelector(`select[name=${field.name}]`)?.selectedOptions[0];
    if (!known?.value || !isUntouched(field)) continue;
    field.value = field.dataset.find ? known.text : known.value;
    if (field.dataset.find) meantBy(field).value = `${known.value} ${known.text}`;
  }
}

// Another customer is chosen: only their sites can be picked, and the only one is.
async function followCustomer(form) {
  const site = fieldFor(form, "site");
  const customerId = customerIn(form);
  // The browser says again that the field has changed when it is left.
  if (!site || !customerId || site.form !== form || form.dataset.customer === customerId) return;
  form.dataset.customer = customerId;
  const answer = await findRecords({ kind: "site", customerId });
  if (!answer) return;
  const only = answer.hits.length === 1 && !answer.hasMore ? answer.hits[0] : null;
  if (site.dataset.pick) {
    site.replaceChildren(new Option("–", ""), ...answer.hits.map((hit) => new Option(hit.title, hit.id)));
    site.value = only?.id ?? "";
  } else {
    site.value = only?.title ?? "";
    meantBy(site).value = only ? `${only.id} ${only.title}` : "";
  }
  await followLastJob(form, customerId);
}

// A new record, without leaving the form: its own form in a dialog, with what was typed as its name.
async function createRecord(adder, text, take) {
  const address = new URL(adder.href);
  if (text) address.searchParams.set(adder.dataset.new, text);
  const customer = customerIn(adder.closest("form"));
  if (customer && !address.pathname.startsWith("/customers")) address.searchParams.set("customerId", customer);
  if (!(await openForm(address, take))) open(adder.href, "_blank", "noopener");
}

// The form of another page, in a dialog. Sending it leads on as from its own page, unless what it makes is taken here.
async function openForm(address, take = null) {
  const fresh = await readPage(address);
  if (!fresh?.querySelector("main form[method=post]")) return false;
  const dialog = made("dialog", { class: "creating", "aria-labelledby": "creating-title" });
  const heading = made("h2", { id: "creating-title" }, fresh.querySelector("main h1").textContent);
  dialog.append(heading);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  fill(fresh);
  dialog.showModal();
  return true;

  // The elements of the dialog have ids of their own, because the page may have the same ones.
  function fill(page) {
    const form = document.importNode(page.querySelector("main form[method=post]"), true);
    for (const element of form.querySelectorAll("*")) {
      for (const name of ["id", "for", "aria-describedby", "aria-labelledby"]) {
        const value = element.getAttribute(name);
        if (value) element.setAttribute(name, value.split(" ").map((one) => `creating-${one}`).join(" "));
      }
    }
    for (const link of form.querySelectorAll("[data-new]")) link.remove();
    const notice = page.querySelector("main .notice.bad");
    const problem = notice ? [document.importNode(notice, true)] : [];
    for (const link of problem[0]?.querySelectorAll("a[href^='#']") ?? []) link.hash = `#creating-${link.hash.slice(1)}`;
    dialog.replaceChildren(heading, ...problem, form);
    for (const input of form.querySelectorAll("input[data-find]")) offerRecords(input);
    for (const field of form.querySelectorAll("[data-date]")) addCalendar(field);
    form.querySelector(".buttons > a:last-of-type")?.addEventListener("click", (event) => {
      event.preventDefault();
      dialog.close();
    });
    if (!take) form.action = address;
    else form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (form.dataset.sent) return;
      form.dataset.sent = "yes";
      const answer = await fetch(address, { method: "POST", body: new URLSearchParams(new FormData(form)) }).catch(() => null);
      delete form.dataset.sent;
      if (!answer) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!answer.redirected) return fill(page);
      dialog.close();
      take(new URL(answer.url).pathname.split("/").at(-1), page.querySelector("main h1").textContent.trim());
    });
    const asked = [...form.querySelectorAll("[autofocus], input:not([type=hidden]), select")];
    (asked.find((field) => field.autofocus || !field.value) ?? asked[0])?.focus();
  }
}

// A small form that the page leads to opens over it.
for (const link of document.querySelectorAll("a[data-dialog]")) {
  link.addEventListener("click", async (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    link.closest("details.menu")?.removeAttribute("open");
    if (!document.querySelector("dialog.creating") && !(await openForm(new URL(link.href)))) location.assign(link.href);
  });
}

async function readPage(address) {
  try {
    const answer = await fetch(address);
    return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  } catch {
    return null;
  }
}

// A list with few records is no field to type in, but a new record can be added to it as well.
for (const adder of document.querySelectorAll("select ~ [data-new], .field:has(select) [data-new]")) {
  const select = adder.closest(".field").querySelector("select");
  adder.addEventListener("click", (event) => {
    event.preventDefault();
    createRecord(adder, "", (id, title) => {
      select.append(new Option(title, id, true, true));
      select.dispatchEvent(new Event("change", { bubbles: true }));
    });
  });
}
for (const input of document.querySelectorAll("input[data-find]")) offerRecords(input);
// The content of a page was replaced.
document.querySelector("main")?.addEventListener("filled", (event) => {
  for (const input of event.target.querySelectorAll("input[data-find]")) offerRecords(input);
});
for (const select of document.querySelectorAll("select[data-pick=customer]")) select.addEventListener("change", () => followCustomer(select.form));

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
  const below = listBelow(input, form);

  whileTyping(input, () => ({}), (hits, more) => {
    const seen = hits.filter((hit) => hit.url);
    const kinds = [...new Set(seen.map((hit) => hit.kind))];
    const groups = kinds.map((kind, at) => group(kind, `${below.id}-${at}`, seen.filter((hit) => hit.kind === kind)));
    if (more) groups.push(option(`${below.id}-all`, `${form.action}?${new URLSearchParams({ text: more })}`, document.body.dataset.all));
    below.show(groups);
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
}

function made(name, attributes, text = "") {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  element.textContent = text;
  return element;
}

// On a phone, the visits of today and tomorrow are stored for times without a network. The page to sign in erases them.
if ("serviceWorker" in navigator) {
  if (document.querySelector("[data-erase]")) {
    caches.keys().then((names) => names.forEach((name) => caches.delete(name)));
  } else if (document.body.classList.contains("office") && matchMedia("(pointer: coarse)").matches) {
    navigator.serviceWorker.register("/worker.js").catch(() => {});
    navigator.serviceWorker.ready.then((registration) => registration.active.postMessage("refresh"));
  }
}

// Of an organisation that the person has left, no form waits any more. The session goes on in another one.
async function eraseForeignForms(people) {
  const names = (await indexedDB.databases()).map((database) => database.name);
  if (!names.includes("mainstay")) return;
  const opening = indexedDB.open("mainstay");
  opening.onsuccess = () => {
    const forms = opening.result.transaction("forms", "readwrite").objectStore("forms");
    forms.openCursor().onsuccess = ({ target: { result: cursor } }) => {
      if (!cursor) return opening.result.close();
      if (!people.includes(cursor.value.person)) cursor.delete();
      cursor.continue();
    };
  };
}
if (document.body.dataset.people && document.getElementById("offline").hidden) {
  eraseForeignForms(document.body.dataset.people.split(" "));
}

// Signing out erases what the phone has stored, so what waits to be sent is shown first.
for (const form of document.querySelectorAll('form[action="/sign-out"]')) {
  form.addEventListener("submit", (event) => {
    if (!Number(localStorage.getItem("waiting")) || location.pathname === "/today") return;
    event.preventDefault();
    location.assign("/today#sign-out");
  });
}
