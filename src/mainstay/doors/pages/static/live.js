// Reloads a part of a page regularly. Without JavaScript, there is a link "Refresh".

// The first reload comes soon, because a task that was just started often shows progress quickly.
const FIRST_PAUSE = 250;
const PAUSE = 2000;
// The most reloads without any input, because an abandoned page must not keep its session alive.
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
      // The page no longer exists, or the person is signed out: stop.
      if (answer.ok) show(await answer.text());
      else goesOn = false;
    } catch {
      // No network. The next reload may work.
    }
    rounds += 1;
    pause = Math.min(2 * pause, PAUSE);
    if (!goesOn) told.textContent = told.dataset.stopped;
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
    told.textContent = told.dataset.updated;
  }

  function isBeingCopied() {
    const selection = getSelection();
    return !selection.isCollapsed && part.contains(selection.anchorNode);
  }

  for (const sign of ["visibilitychange", "pointerdown", "keydown"]) document.addEventListener(sign, wake);
  wake();
}
