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

// What one types is looked for while one types; without this, the form asks again where it was not clear.
let waiting = null;
document.addEventListener("input", ({ target: input }) => {
  if (!input.matches("input[data-find]")) return;
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    if (input.value.trim().length < 2) return;
    const asked = new URLSearchParams({ kind: input.dataset.find, text: input.value.trim() });
    try {
      const answer = await fetch(`/find?${asked}`, { redirect: "manual" });
      if (!answer.ok) return;
      const options = (await answer.json()).hits.map((hit) => {
        const option = document.createElement("option");
        option.value = hit.title;
        option.label = hit.detail ? `${hit.title} · ${hit.detail}` : hit.title;
        return option;
      });
      input.list.replaceChildren(...options);
    } catch {
      // No network now: the form finds it when it is sent.
    }
  }, 150);
});

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
    fresh.querySelector("[name]").focus();
    button.hidden = full();
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
