// Sends a bank statement as soon as it is chosen. Keeps the number of ticked entries in the button that records them; its
// texts are in the page, for every number. What is said of an invoice goes when another number is typed.

for (const input of document.querySelectorAll("[data-statement]")) {
  input.addEventListener("change", () => {
    if (input.files.length) input.form.requestSubmit();
  });
}

for (const button of document.querySelectorAll("button[data-ticked]")) {
  const texts = button.dataset.ticked.split("|");
  const show = () => {
    button.textContent = texts[button.form.querySelectorAll("input[type=checkbox]:checked").length];
  };
  button.form.addEventListener("change", show);
  // Browsers restore the ticks when someone comes back to the page.
  addEventListener("pageshow", show);
}

for (const input of document.querySelectorAll("[data-takes]")) {
  const row = input.closest("tr");
  const note = row.querySelector("[data-paid-by]");
  const box = row.querySelector("input[type=checkbox]");
  input.addEventListener("input", () => { note.textContent = ""; });
  input.addEventListener("picked", ({ detail: invoice }) => {
    note.textContent = invoice.detail;
    if (!box.checked) box.click();
  });
}
