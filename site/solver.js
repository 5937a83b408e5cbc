// The solver in its worker.

export class Solver {
  #worker;
  #waiting;
  #module;
  #id = 0;

  // One request at a time: a new one ends the search that is running.
  ask(call, bytes, onNodes = () => {}) {
    this.stop();
    this.#worker ??= this.#start();
    const id = ++this.#id;
    return new Promise((resolve, reject) => {
      this.#waiting = { id, resolve, reject, onNodes };
      this.#worker.postMessage({ id, call, bytes, wasm: this.#module });
      this.#module = undefined;
    });
  }

  // Ends the search that is running.
  stop() {
    if (this.#waiting) this.#end(new Stopped());
  }

  // Ends the worker, which cannot be interrupted otherwise.
  #end(error) {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#worker?.terminate();
    this.#worker = undefined;
    waiting?.reject(error);
  }

  #start() {
    const inside = globalThis.KYOKUMEN;
    if (inside) this.#module = Uint8Array.from(atob(inside.module), (letter) => letter.charCodeAt(0));
    const address = inside ? URL.createObjectURL(new Blob([inside.worker], { type: "text/javascript" })) : "worker.js";
    const worker = new Worker(address);
    worker.onmessage = ({ data: { id, nodes, result, failed } }) => {
      if (id !== this.#waiting?.id) return;
      if (nodes !== undefined) this.#waiting.onNodes(nodes);
      else if (failed !== undefined) this.#end(new Failed(failed));
      else {
        const { resolve } = this.#waiting;
        this.#waiting = undefined;
        resolve(result);
      }
    };
    worker.onerror = (event) => this.#end(new Failed(event.message ?? "worker.js cannot be loaded"));
    return worker;
  }
}

// The search was stopped.
export class Stopped extends Error {}

// The worker or the WebAssembly module cannot go on.
export class Failed extends Error { kind = "failed"; }
