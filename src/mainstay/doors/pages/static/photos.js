// Shows photos over the whole screen. The arrow keys show the next and the previous one. Without JavaScript, each photo
// leads to its page.

const viewer = document.createElement("dialog");
const picture = document.createElement("img");
const name = document.createElement("a");
const position = document.createElement("span");
const close = document.createElement("button");
const bar = document.createElement("p");
viewer.className = "viewer";
close.type = "button";
close.textContent = document.querySelector("script[data-close]").dataset.close;
close.addEventListener("click", () => viewer.close());
bar.append(name, position, close);
viewer.append(picture, bar);
document.body.append(viewer);

let links = [];
let shown = 0;

// Of many photos, the last one that is shown says how many follow.
const MAX_SHOWN = 5;

for (const list of document.querySelectorAll("[data-photos]")) {
  const rest = list.querySelector(".rest");
  if (rest) rest.hidden = false;
  for (const one of [...list.children].slice(MAX_SHOWN)) one.hidden = true;
  const all = [...list.querySelectorAll("a[data-photo]")];
  list.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-photo]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    links = all;
    show(all.indexOf(link));
    viewer.showModal();
  });
}

viewer.addEventListener("keydown", (event) => {
  if (event.key === "ArrowRight") show(shown + 1);
  else if (event.key === "ArrowLeft") show(shown - 1);
});
picture.addEventListener("click", () => show(shown + 1));

function show(number) {
  shown = (number + links.length) % links.length;
  const link = links[shown];
  picture.src = link.dataset.photo;
  picture.alt = link.querySelector("img").alt;
  name.href = link.href;
  name.textContent = picture.alt;
  position.textContent = `${shown + 1} / ${links.length}`;
}
