// The preview of the email follows what is typed. Without JavaScript, it shows the email as the page was opened.

const shown = document.querySelector("[data-link]");
for (const part of shown.querySelectorAll("[data-shows]")) {
  const field = document.getElementById(part.dataset.shows);
  const show = () => {
    const texts = field.value.split("{link}").flatMap((text, at) => (at ? [link(), text] : [text]));
    part.replaceChildren(...texts);
  };
  field.addEventListener("input", show);
  // Browsers restore what was typed when someone comes back to the page.
  addEventListener("pageshow", show);
}

function link() {
  const button = document.createElement("span");
  button.className = "button slim primary";
  button.textContent = shown.dataset.link;
  return button;
}
