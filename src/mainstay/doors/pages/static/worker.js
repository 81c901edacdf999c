// The service worker: keeps the visits of today and tomorrow readable without a network, for the person who is signed in.
// Everything is fetched from the office's own pages. A new store is made each time: the list says which version of a
// visit is current, and only pages that are older are fetched again. Nothing else stays in it.

const LIST = "/today";
// What is put into a store last.
const COMPLETE = "/complete";
const VISIT = /data-visit="(\/schedule\/visits\/visit_[0-9A-Z]{26})" data-version="([0-9a-f]+)"/g;
// The header of a stored page that says which version of its visit it shows.
const VERSION = "visit-version";
const STATIC = /\/static\/[0-9a-f]{16}\/[\w.-]+/g;

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("message", (event) => {
  if (event.data === "refresh") event.waitUntil(refresh());
});

addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== location.origin) return;
  if (pathname.startsWith("/static/")) {
    event.respondWith(caches.match(event.request).then((found) => found ?? fetch(event.request)));
  } else if (mode === "navigate") {
    event.respondWith(fetch(event.request).catch((problem) => openStored(pathname, problem)));
  }
});

// A stored page, which says that it is one. Of other pages, the list of visits is shown.
async function openStored(path, problem) {
  const found = (await caches.match(path)) ?? (await caches.match(LIST));
  if (!found) throw problem;
  const page = (await found.text()).replace('id="offline" hidden', 'id="offline"');
  const headers = new Headers(found.headers);
  headers.delete("content-encoding");
  return new Response(page, { headers });
}

// A page that is opened while the visits are being stored may show something newer, so they are stored once more.
let refreshing = null;
let isAskedAgain = false;
function refresh() {
  isAskedAgain = true;
  refreshing ??= storeUntilCurrent().finally(() => { refreshing = null; });
  return refreshing;
}

async function storeUntilCurrent() {
  while (isAskedAgain) {
    isAskedAgain = false;
    await storeVisits().catch(() => {});
  }
}

async function storeVisits() {
  const answer = await fetch(LIST, { redirect: "manual" });
  // The person has signed out, has been signed out, or has left.
  if (answer.type === "opaqueredirect" || [401, 403, 404].includes(answer.status)) return erase();
  if (!answer.ok) return;
  const known = await caches.keys();
  const name = `visits ${Date.now()} ${Math.random()}`;
  const store = await caches.open(name);
  try {
    const list = await keep(store, LIST, answer);
    const texts = [list];
    for (const [, path, version] of list.matchAll(VISIT)) {
      for (const one of [path, `${path}/finish`]) {
        const page = await findPage(one, version);
        if (page) texts.push(await keep(store, one, page));
      }
    }
    for (const text of texts) await keepFiles(store, text);
    await store.put(COMPLETE, new Response());
  } catch (problem) {
    // The network went away meanwhile. What was stored before stays; a part of it is better than nothing.
    if (known.length) await caches.delete(name);
    throw problem;
  }
  for (const one of known) await caches.delete(one);
}

// The page of a visit: the stored one if it is of this version. None if the visit was given to someone else meanwhile.
async function findPage(path, version) {
  const stored = await caches.match(path);
  if (stored?.headers.get(VERSION) === version) return stored;
  const page = await fetch(path, { redirect: "manual" });
  if ([403, 404].includes(page.status)) return null;
  if (!page.ok) throw new Error(`${path} is not available now`);
  const headers = new Headers(page.headers);
  headers.delete("content-encoding");
  headers.set(VERSION, version);
  return new Response(page.body, { headers });
}

async function keep(store, path, answer) {
  await store.put(path, answer.clone());
  return answer.text();
}

// Stores the stylesheets, scripts and pictures of the product that a page refers to, and what those refer to.
async function keepFiles(store, text) {
  for (const path of new Set(text.match(STATIC) ?? [])) {
    if (await store.match(path)) continue;
    const file = (await caches.match(path)) ?? (await fetch(path));
    if (!file.ok) continue;
    await store.put(path, file.clone());
    if (path.endsWith(".css")) await keepFiles(store, await file.text());
  }
}

async function erase() {
  for (const name of await caches.keys()) await caches.delete(name);
}
