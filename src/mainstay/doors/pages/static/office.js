// Small comforts; every page works without them.

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  const words = button.textContent;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      button.textContent = "Copied";
    } catch {
      // Without leave to use the clipboard, the text is at least selected.
      getSelection().selectAllChildren(source);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = words; }, 2000);
  });
}

// A second click while the first is on its way would do it twice; whoever comes back may send again.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// What was done is said once, and what was sent is sent once: not again when the page is loaded again, or come back to.
const here = new URL(location.href);
here.searchParams.delete("done");
history.replaceState(history.state, "", here);

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

// What one types is looked for while one types; what was found last is shown, whatever comes later.
function whileTyping(input, asked, show) {
  let waiting = null;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const text = input.value.trim();
      if (text.length < 2) return show([]);
      try {
        const answer = await fetch(`/find?${new URLSearchParams({ ...asked, text })}`, { redirect: "manual" });
        if (!answer.ok) return;
        const { hits } = await answer.json();
        if (input.value.trim() === text) show(hits);
      } catch {
        // No network now: the form finds it when it is sent.
      }
    }, 150);
  });
}

// A record that a form names; without this, the form asks again where it was not clear.
function offerRecords(input) {
  const { find: kind, status = "" } = input.dataset;
  whileTyping(input, { kind, status }, (hits) => {
    if (!hits.length) return;
    const options = hits.map((hit) => {
      const option = document.createElement("option");
      option.value = hit.title;
      option.label = hit.detail ? `${hit.title} · ${hit.detail}` : hit.title;
      return option;
    });
    input.list.replaceChildren(...options);
  });
}
for (const input of document.querySelectorAll("input[data-find]")) offerRecords(input);

// One more row of a short list; without this, some are empty whenever the form is opened.
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

// The search leads to a record as soon as it is found; without this, to the page that shows all that was found.
for (const form of document.querySelectorAll("form[role=search]")) {
  const input = form.querySelector("input[type=search]");
  const found = document.createElement("ul");
  found.className = "found";
  found.hidden = true;
  found.setAttribute("aria-label", "Found while you type");
  form.append(found);

  whileTyping(input, {}, (hits) => {
    const links = hits.filter((hit) => hit.url).map((hit) => {
      const link = document.createElement("a");
      link.href = hit.url;
      link.textContent = hit.detail ? `${hit.title} · ${hit.detail}` : hit.title;
      const line = document.createElement("li");
      line.append(link);
      return line;
    });
    found.replaceChildren(...links);
    found.hidden = !links.length;
  });
  form.addEventListener("keydown", (event) => {
    const places = [input, ...found.querySelectorAll("a")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") found.hidden = true;
    if (!step || found.hidden) return;
    event.preventDefault();
    places[Math.max(0, Math.min(places.length - 1, places.indexOf(document.activeElement) + step))].focus();
  });
  form.addEventListener("focusout", (event) => {
    if (!form.contains(event.relatedTarget)) found.hidden = true;
  });
}

// The search is a key away.
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  const asked = (event.key === "/" && !typing) || (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey));
  const search = document.getElementById("search");
  if (!asked || !search) return;
  event.preventDefault();
  search.focus();
  search.select();
});
