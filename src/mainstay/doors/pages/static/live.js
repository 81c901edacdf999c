// Keeps a part of a page current while someone looks at it. Without it, the link "Refresh" does.

// What was just set going mostly shows something soon; later there is less to wait for.
const FIRST_PAUSE = 250;
const PAUSE = 2000;
// So often without anyone's touch: a page that is left alone must not keep its sign-in alive.
const ROUNDS = 300;

for (const part of document.querySelectorAll("[data-live]")) follow(part);

function follow(part) {
  const told = document.getElementById(part.dataset.told);
  let shown = part.innerHTML;
  let rounds = 0;
  let pause = FIRST_PAUSE;
  let timer = null;

  function wake() {
    rounds = 0;
    if (timer === null && !document.hidden) timer = setTimeout(look, pause);
  }

  async function look() {
    let goesOn = true;
    try {
      const answer = await fetch(part.dataset.live, { redirect: "manual", headers: { Accept: "text/html" } });
      // Gone, or signed out: there is nothing more to see.
      if (answer.ok) show(await answer.text());
      else goesOn = false;
    } catch {
      // No network now; perhaps at the next turn.
    }
    rounds += 1;
    pause = Math.min(2 * pause, PAUSE);
    if (!goesOn) told.textContent = "No longer updated.";
    else timer = document.hidden || rounds >= ROUNDS ? null : setTimeout(look, pause);
  }

  function show(text) {
    const fresh = document.createElement("div");
    fresh.innerHTML = text;
    told.textContent = "";
    if (fresh.innerHTML.trim() === shown.trim() || isBeingCopied()) return;
    shown = fresh.innerHTML;

    const focused = part.contains(document.activeElement) ? document.activeElement.id : null;
    const open = [...part.querySelectorAll("details[open]")].map((details) => details.id);
    part.replaceChildren(...fresh.childNodes);
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    if (focused !== null) (document.getElementById(focused) ?? part).focus({ preventScroll: true });
    told.textContent = "Updated.";
  }

  function isBeingCopied() {
    const selection = getSelection();
    return !selection.isCollapsed && part.contains(selection.anchorNode);
  }

  for (const sign of ["visibilitychange", "pointerdown", "keydown"]) document.addEventListener(sign, wake);
  wake();
}
