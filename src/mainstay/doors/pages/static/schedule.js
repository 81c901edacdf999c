// Dragging a visit to another time or person. It sends the very form by which everyone else moves a visit.

const told = document.getElementById("dragged");
let held = null;

for (const booked of document.querySelectorAll(".booked[draggable]")) {
  booked.addEventListener("dragstart", (event) => {
    held = { booked, grip: event.offsetX };
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", booked.textContent.trim());
    booked.classList.add("dragging");
  });
  booked.addEventListener("dragend", () => booked.classList.remove("dragging"));
}

for (const place of document.querySelectorAll("[data-person]")) {
  place.addEventListener("dragover", (event) => {
    if (!held) return;
    event.preventDefault();
    place.classList.add("over");
  });
  place.addEventListener("dragleave", () => place.classList.remove("over"));
  place.addEventListener("drop", async (event) => {
    event.preventDefault();
    place.classList.remove("over");
    if (held) await move(held.booked, place, event.clientX - held.grip);
    held = null;
  });
}

async function move(booked, place, left) {
  told.hidden = false;
  told.textContent = "Moving …";
  try {
    const page = await fetch(booked.dataset.move);
    const form = new DOMParser().parseFromString(await page.text(), "text/html").querySelector("main form[method=post]");
    if (!form) throw new Error("no form");
    const fields = new URLSearchParams(new FormData(form));
    fields.set("personId", place.dataset.person);
    for (const name of ["startsAt", "endsAt", "on"]) {
      if (fields.get(name)) fields.set(name, later(fields.get(name), minutes(booked, place, left)));
    }
    const answer = await fetch(booked.dataset.move, { method: "POST", body: fields, redirect: "manual" });
    if (answer.type === "opaqueredirect") {
      location.reload();
      return;
    }
    const refused = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".notice.bad, .fault");
    told.textContent = refused ? refused.textContent.replace(/^[\s!]+/, "").trim() : "The visit was not moved.";
  } catch {
    told.textContent = "The visit was not moved: the server cannot be reached. Try again.";
  }
}

// How far a visit was dragged: by days in a week, by quarters of an hour in a day.
function minutes(booked, place, left) {
  const days = Math.round((Date.parse(place.dataset.day) - Date.parse(booked.dataset.day)) / 86400000);
  if (!place.dataset.quarters || booked.dataset.at === undefined) return days * 1440;
  const box = place.getBoundingClientRect();
  const quarter = Math.round(((left - box.left) / box.width) * Number(place.dataset.quarters));
  return (quarter - Number(booked.dataset.at)) * 15;
}

// The same wall time, so much later; what is only a date stays one.
function later(text, by) {
  const dated = text.length === 10;
  const moved = new Date(Date.parse(dated ? `${text}T00:00Z` : `${text.slice(0, 16)}Z`) + by * 60000).toISOString();
  return moved.slice(0, dated ? 10 : 16);
}
