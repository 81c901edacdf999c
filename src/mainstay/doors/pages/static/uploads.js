// Sends the files of a form with a progress bar for each, and a button to cancel. Without JavaScript, the browser sends
// the form.

document.addEventListener("submit", (event) => {
  const form = event.target;
  const files = [...form.querySelectorAll("input[type=file]")].flatMap((input) => [...input.files]);
  if (!("upload" in form.dataset) || event.defaultPrevented || !files.length) return;
  event.preventDefault();
  const request = new XMLHttpRequest();
  const bars = new Bars(form.querySelector("[data-uploads]"), files);
  bars.cancel.onclick = () => request.abort();
  request.upload.onprogress = (progress) => bars.show(progress.loaded, progress.total);
  // Until it has ended, the browser asks before the page is left, because that would cancel the upload.
  const ended = (act) => () => {
    removeEventListener("beforeunload", askBeforeLeaving);
    act();
  };
  addEventListener("beforeunload", askBeforeLeaving);
  request.onload = ended(() => showAnswer(form, request));
  request.onerror = ended(() => stop(form, bars, "failed"));
  request.onabort = ended(() => stop(form, bars, "cancelled"));
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "text/html");
  request.responseType = "document";
  request.send(new FormData(form));
});

function askBeforeLeaving(event) {
  event.preventDefault();
}

class Bars {
  constructor(part, files) {
    this.part = part;
    this.files = files;
    this.cancel = part.querySelector("button");
    this.told = part.querySelector("[role=status]");
    const row = part.querySelector("template").content;
    part.querySelector("ul").replaceChildren(...files.map((file) => {
      const item = row.cloneNode(true);
      item.querySelector("span").textContent = file.name;
      item.querySelector("progress").setAttribute("aria-label", file.name);
      return item;
    }));
    this.cancel.hidden = false;
    this.told.textContent = this.told.dataset.sending;
    part.hidden = false;
  }

  // The files are sent one after another.
  show(sent, total) {
    let before = 0;
    this.part.querySelectorAll("progress").forEach((bar, place) => {
      const size = this.files[place].size;
      bar.value = sent === total || size === 0 ? 1 : Math.min(Math.max((sent - before) / size, 0), 1);
      before += size;
    });
    if (sent === total) this.told.textContent = this.told.dataset.reading;
  }
}

// After a cancelled upload, nothing is stored, and the form can be sent again.
function stop(form, bars, what) {
  bars.part.querySelector("ul").replaceChildren();
  bars.cancel.hidden = true;
  bars.told.textContent = bars.told.dataset[what];
  delete form.dataset.sent;
  form.querySelector("[type=submit]").focus();
}

function showAnswer(form, request) {
  const main = request.response?.querySelector("main");
  if (request.status < 400 || !main) {
    location.assign(`${request.responseURL}${form.dataset.upload}`);
    return;
  }
  // A refusal, with the form or a way back.
  const shown = document.adoptNode(main);
  document.querySelector("main").replaceWith(shown);
  shown.focus();
}
