// Keeps the page in the browser's cache, so that it opens without a network. site/build fills in the two values.
// A new version waits until no page of the old one is open, so that a page never loads files of another version.
"use strict";
const VERSION = "@VERSION@";
const FILES = ["@FILES@"];
const CACHE = `kyokumen-${VERSION}`;

addEventListener("install", (event) => {
  event.waitUntil((async () => {
    await (await caches.open(CACHE)).addAll(FILES.map((file) => new Request(file, { cache: "reload" })));
  })());
});

addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    const old = (await caches.keys()).filter((name) => name.startsWith("kyokumen-") && name !== CACHE);
    await Promise.all(old.map((name) => caches.delete(name)));
    await clients.claim();
  })());
});

addEventListener("fetch", (event) => {
  if (event.request.method !== "GET") return;
  event.respondWith((async () => {
    const cache = await caches.open(CACHE);
    return await cache.match(event.request, { ignoreSearch: true }) ?? fetch(event.request);
  })());
});
