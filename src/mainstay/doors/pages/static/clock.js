// Counts the time of a running timer up. Without JavaScript, the page shows the time as of when it was opened.

for (const shown of document.querySelectorAll("[data-since]")) {
  const since = Date.parse(shown.dataset.since);
  const first = shown.textContent.trim().split(":");
  // How far the clock of this device is off, from the time that the page showed when it was rendered.
  const told = (Number(first[0]) * 60 + Number(first[1])) * 60000;
  const off = Math.round((Date.now() - since - told) / 60000) * 60000;
  function tell() {
    const minutes = Math.max(0, Math.floor((Date.now() - since - off) / 60000));
    shown.textContent = `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}`;
  }
  setInterval(tell, 5000);
}
