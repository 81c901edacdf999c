// Says on the button how many entries it approves, and their hours. Without JavaScript, the button says only what it does.

const button = document.querySelector("[data-approves]");
const boxes = [...document.querySelectorAll("input[data-minutes]")];

function tell() {
  const minutes = boxes.filter((box) => box.checked).map((box) => Number(box.dataset.minutes));
  const sum = minutes.reduce((total, more) => total + more, 0);
  const hours = `${Math.floor(sum / 60)}:${String(sum % 60).padStart(2, "0")}`;
  const text = minutes.length === 1 ? button.dataset.one : button.dataset.several;
  button.textContent = text.replace("{count}", minutes.length).replace("{hours}", hours);
}

if (button) {
  for (const box of boxes) box.addEventListener("change", tell);
  tell();
}
