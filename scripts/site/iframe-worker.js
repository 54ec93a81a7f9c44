// Browsers refuse to start a worker on a page that was opened from disk. There, its script runs in a hidden frame instead,
// so that the search of the site works without a server. Messages arrive later, as copies, as those of workers do.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inner = this.frame.contentWindow;
      inner.postMessage = (data) => setTimeout(() => this.onmessage?.({ data: structuredClone(data) }));
      const script = inner.document.createElement("script");
      this.loaded = new Promise((resolve) => (script.onload = resolve));
      script.onerror = (event) => this.onerror?.(event);
      script.src = address;
      inner.document.body.append(script);
    }
    postMessage(data) {
      const inner = this.frame.contentWindow;
      const copy = inner.structuredClone(data);
      this.loaded.then(() => setTimeout(() => inner.onmessage?.({ data: copy })));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
