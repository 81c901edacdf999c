// Updates the total while lines are typed. Saving computes it again anyway.

const PAUSE = 300;

for (const form of document.querySelectorAll("form[data-totals]")) {
  let waiting = null;
  let asked = 0;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
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
    }, PAUSE);
  });
}
