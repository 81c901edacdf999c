// Reports that someone looks at a quote, and updates its total. Without JavaScript, a button updates the total.

const form = document.getElementById("answer");
const LOOKED = 3000;

// Wait a little, because programs that follow links in emails leave at once.
if (form) setTimeout(() => { if (!document.hidden) tell(); else addEventListener("visibilitychange", tell, { once: true }); }, LOOKED);

function tell() {
  fetch(form.dataset.seen, { method: "POST", body: new URLSearchParams({ csrf: form.elements.csrf.value }) }).catch(() => {});
}

for (const box of form ? form.querySelectorAll("input[type=checkbox]") : []) {
  box.addEventListener("change", async () => {
    const choose = document.getElementById("choose");
    if (!choose) return;
    try {
      const answer = await fetch(choose.formAction, { method: "POST", body: new URLSearchParams(new FormData(form)) });
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of ["#sums", "#order"]) {
        document.querySelector(part).replaceWith(fresh.querySelector(part));
      }
    } catch {
      // No network. The button still works.
    }
  });
}
