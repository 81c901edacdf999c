// The assistant: shows an answer while it is written, on its pages and in a panel beside any other page.

let panel;
let opener;
let stream;

const own = document.querySelector("main #talk");
if (own) watch(own, (html) => replace(own.parentElement, html), location.href);

export async function openPanel(link) {
  if (panel) return closePanel();
  opener = link;
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = link.dataset.style;
  document.head.append(style);
  panel = document.createElement("aside");
  panel.className = "ask-panel";
  panel.setAttribute("aria-label", link.dataset.label);
  panel.innerHTML = '<div class="top"><strong></strong><button class="slim" type="button"></button></div><div class="inner" tabindex="-1"></div>';
  panel.querySelector("strong").textContent = link.dataset.label;
  panel.querySelector("button").textContent = link.dataset.close;
  panel.querySelector("button").addEventListener("click", closePanel);
  document.addEventListener("keydown", closeOnEscape);
  document.body.append(panel);
  await load(link.href);
  panel.querySelector("textarea")?.focus();
}

function closeOnEscape(event) {
  if (event.key === "Escape" && !event.defaultPrevented) closePanel();
}

function closePanel() {
  document.removeEventListener("keydown", closeOnEscape);
  stream?.close();
  panel?.remove();
  panel = undefined;
  opener?.focus();
}

async function load(address, options) {
  const answer = await fetch(address, options);
  showInPanel(await answer.text(), answer.url);
}

function showInPanel(html, address) {
  const inner = panel?.querySelector(".inner");
  if (!inner) return;
  const talk = replace(inner, html);
  // What is no page of the assistant, such as a refusal or the sign-in, is shown as a whole page.
  if (!talk) return location.assign(address);
  watch(talk, (text) => showInPanel(text, address), address);
  for (const field of talk.querySelectorAll("form")) field.addEventListener("submit", sendInPanel);
  for (const link of talk.querySelectorAll('a[href^="/assistant"]:not([href$="/file"])')) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      load(link.href);
    });
  }
  inner.scrollTop = inner.scrollHeight;
}

function sendInPanel(event) {
  event.preventDefault();
  const body = new URLSearchParams(new FormData(event.target, event.submitter));
  if (event.submitter) event.submitter.disabled = true;
  load(event.target.action, { method: "POST", body });
}

// Puts the conversation of a page where the former one is, and returns it.
function replace(place, html) {
  const talk = new DOMParser().parseFromString(html, "text/html").getElementById("talk");
  if (talk) place.replaceChildren(talk);
  return talk;
}

// The process that streams the answer is the one that works on it, so that what is written is seen at once.
function tellStreamed(talk) {
  for (const form of talk.querySelectorAll(".asking, .cards")) {
    const field = Object.assign(document.createElement("input"), { type: "hidden", name: "streamed", value: "yes" });
    form.append(field);
  }
}

// Shows what happens in the latest turn until it has ended, and then loads the conversation again with `show`.
function watch(talk, show, address) {
  stream?.close();
  tellStreamed(talk);
  if (!talk.dataset.stream) return;
  stream = new EventSource(talk.dataset.stream);
  let written = "";
  stream.addEventListener("text", (event) => {
    const live = talk.querySelector(".live");
    if (!live) return;
    written += JSON.parse(event.data);
    live.hidden = false;
    live.textContent = written;
  });
  stream.addEventListener("step", (event) => {
    const turn = new DOMParser().parseFromString(event.data, "text/html").querySelector(".turn");
    const former = turn && talk.querySelector(`#${CSS.escape(turn.id)}`);
    if (!former) return;
    const unfolded = [...former.querySelectorAll("details")].map((one) => one.open);
    turn.querySelectorAll("details").forEach((one, number) => (one.open = unfolded[number] ?? false));
    former.replaceWith(turn);
    written = "";
  });
  stream.addEventListener("end", async () => {
    stream.close();
    const answer = await fetch(address.split("?")[0]);
    show(await answer.text());
  });
}
