// The viewer's page in a cell of a notebook: what it shows and what Python knows of it are kept the same.

const LOOK_EVERY = 200; // ms

/** A socket for the page inside, which talks to the kernel instead of a server. */
function socketTo(model) {
  return class {
    static OPEN = 1;
    readyState = 0;
    #listeners = { message: [], close: [] };

    constructor() {
      model.on("msg:custom", (content, buffers) => {
        const data = content.text ?? new Uint8Array(buffers[0].buffer, buffers[0].byteOffset, buffers[0].byteLength).slice().buffer;
        for (const listener of this.#listeners.message) listener({ data });
      });
      setTimeout(() => {
        this.readyState = 1;
        model.send({ type: "open" });
      });
    }

    addEventListener(name, listener) {
      this.#listeners[name]?.push(listener);
    }

    send(text) {
      model.send({ type: "say", text });
    }
  };
}

/** Time and play follow the page, and lead it where Python changes them. */
function keepTheSame(model, page) {
  model.on("change:time", () => {
    if (Math.abs(page.time() - model.get("time")) > 1e-9) page.seek(model.get("time"));
  });
  model.on("change:playing", () => {
    if (page.playing() !== model.get("playing")) page.act("toggle");
  });
  return setInterval(() => {
    if (page.time() === model.get("time") && page.playing() === model.get("playing")) return;
    model.set("time", page.time());
    model.set("playing", page.playing());
    model.save_changes();
  }, LOOK_EVERY);
}

function render({ model, el }) {
  const frame = document.createElement("iframe");
  Object.assign(frame.style, { width: "100%", height: `${model.get("height")}px`, border: "0" });
  frame.allow = "fullscreen; clipboard-write; gamepad";
  frame.tautlineSocket = socketTo(model);
  let timer = 0;
  frame.addEventListener("load", async () => {
    const page = frame.contentWindow.tautline;
    await page.ready;
    timer = keepTheSame(model, page);
  });
  frame.srcdoc = model.get("page");
  el.append(frame);
  // what stands there for readers whose notebook does not run
  const still = document.getElementById(model.get("still"));
  if (still) still.hidden = true;
  return () => {
    clearInterval(timer);
    if (still) still.hidden = false;
  };
}

export default { render };
