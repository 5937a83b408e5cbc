// Runs the solver. A request is {id, call, bytes}, an answer {id, result} or {id, failed}, progress {id, nodes}.
"use strict";
const SHOW_EVERY_MS = 100;
let solver;
let current = 0;
let shown = 0;

function progress(nodes) {
  const now = performance.now();
  if (now - shown < SHOW_EVERY_MS) return;
  shown = now;
  postMessage({ id: current, nodes });
}

async function fetched(name) {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
  return answer.arrayBuffer();
}

// `wasm` are the bytes of the module, if the page contains them.
async function load(wasm) {
  const bytes = wasm ?? await fetched("kyokumen_site.wasm");
  const { instance } = await WebAssembly.instantiate(bytes, { env: { progress } });
  return instance.exports;
}

function answer({ input, output, memory, ...calls }, call, bytes) {
  const at = input(bytes.length);
  new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
  const length = calls[call]();
  return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, output(), length)));
}

onmessage = async ({ data: { id, call, bytes, wasm } }) => {
  try {
    solver ??= load(wasm);
    const ready = await solver;
    current = id;
    shown = performance.now();
    postMessage({ id, result: answer(ready, call, bytes) });
  } catch (error) {
    postMessage({ id, failed: String(error) });
  }
};
