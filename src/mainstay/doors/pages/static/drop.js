// Lets files be dropped on the upload form, and sends a photo as soon as it is taken.

for (const form of document.querySelectorAll("form[data-drop]")) {
  const chosen = form.querySelector("input[type=file][multiple]");
  form.classList.add("ready");

  form.addEventListener("dragover", (event) => {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    form.classList.add("over");
  });
  form.addEventListener("dragleave", (event) => {
    if (!form.contains(event.relatedTarget)) form.classList.remove("over");
  });
  form.addEventListener("drop", (event) => {
    form.classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    chosen.files = event.dataTransfer.files;
    form.requestSubmit();
  });

  form.querySelector("input[capture]").addEventListener("change", (event) => {
    if (event.target.files.length) form.requestSubmit();
  });
}
