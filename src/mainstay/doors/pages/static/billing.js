// Shows what a new invoice would be while someone chooses. Without JavaScript, a button shows it.

const PAUSE = 300;

for (const form of document.querySelectorAll("form[data-totals]")) {
  const look = form.querySelector("button[value=look]");
  // What is chosen here is shown at once.
  look.hidden = Boolean(form.querySelector("[name=choice]"));
  let waiting = null;
  let asked = 0;
  form.addEventListener("input", (event) => {
    // The lines to tick are those of the choice.
    const isTick = event.target.name?.startsWith("bill ");
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      asked += 1;
      const mine = asked;
      const fields = new URLSearchParams(new FormData(form));
      fields.delete("once");
      try {
        const answer = await fetch(form.dataset.totals, { method: "POST", body: fields, redirect: "manual" });
        if (!answer.ok || mine !== asked) return;
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        for (const id of isTick ? ["this-invoice"] : ["this-invoice", "billed"]) {
          const fresh = page.getElementById(id);
          if (fresh) document.getElementById(id).replaceWith(fresh);
        }
      } catch {
        // No network. Saving will show that.
      }
    }, PAUSE);
  });
  // Another customer or job has other choices, and what the form knows of the one before is gone.
  const follow = (event) => {
    const gone = { customerId: ["jobId", "siteId", "title"], jobId: ["siteId", "title"] }[event.target.name];
    if (!gone) return;
    for (const name of look.hidden ? gone : []) form.elements[name].value = "";
    for (const choice of form.querySelectorAll("[name=choice]")) choice.checked = false;
    form.requestSubmit(look);
  };
  form.addEventListener("picked", follow);
  for (const select of form.querySelectorAll("select[data-pick=job]")) select.addEventListener("change", follow);
}
