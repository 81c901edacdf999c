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
  // Another customer or job has other choices.
  form.addEventListener("picked", () => form.requestSubmit(look));
  for (const select of form.querySelectorAll("select[data-pick=job]")) {
    select.addEventListener("change", () => form.requestSubmit(look));
  }
}
