// What every page does in the browser itself: direction, light and dark, language, copying, the menu, and a lost server.
window.firth = {
  start(language, direction, gone) {
    document.documentElement.lang = language;
    document.documentElement.dir = direction;
    addEventListener("DOMContentLoaded", () => {
      const popup = document.getElementById("popup");
      if (!popup) return;
      popup.className = "gone";
      popup.setAttribute("role", "alert");
      popup.replaceChildren(this.make("strong", gone.title), this.make("span", gone.cure));
      setInterval(() => popup.ariaHidden === "false" && this.knock(popup, gone), 2000);
    });
    addEventListener("DOMContentLoaded", () => this.showJoiners(document.cookie.includes("firth-joiners=1")));
    addEventListener("resize", () => this.draw());
    addEventListener("keydown", (event) => {
      if (event.key === "Escape") document.body.classList.remove("menu-open");
    });
    document.addEventListener("click", (event) => this.merge(event.target.closest("a[data-merge]")), true);
    document.addEventListener("click", (event) => {
      const open = document.body.classList.contains("menu-open"); // a change of the class repaints plots
      if (open && !event.target.closest(".side, .menu-button")) document.body.classList.remove("menu-open");
    });
  },
  // A link that changes a part of the state keeps the rest, as the address has it now.
  merge(link) {
    if (!link) return;
    const state = new URLSearchParams(location.search);
    new URL(link.href).searchParams.forEach((value, name) => state.set(name, value));
    link.search = state;
  },
  // A server that runs again has a new token: the page says so, and reconnects when the browser has it.
  async knock(popup, gone) {
    const answer = await fetch("/static/icon.svg", { cache: "no-store" }).catch(() => null);
    const [title, cure] = answer?.status === 403 ? [gone.refused, gone.refusedCure] : [gone.title, gone.cure];
    popup.replaceChildren(this.make("strong", title), this.make("span", cure));
  },
  make(name, text) {
    const element = document.createElement(name);
    element.textContent = text;
    return element;
  },
  keep(name, value) {
    document.cookie = `firth-${name}=${value}; path=/; max-age=31536000; SameSite=Strict`;
  },
  theme() {
    const dark = !document.body.classList.contains("body--dark");
    this.keep("theme", dark ? "dark" : "light");
    Quasar.Dark.set(dark);
  },
  language(name) {
    this.keep("language", name);
    location.reload();
  },
  joiners() {
    const on = !document.body.classList.contains("joiners");
    this.keep("joiners", Number(on));
    this.showJoiners(on);
  },
  // Half spaces (ZWNJ) as marks, in words and texts, whose direction is their own, and in the words of plots.
  showJoiners(on) {
    document.body.classList.toggle("joiners", on);
    const button = document.querySelector(".joiners-button"), content = document.getElementById("content");
    button?.setAttribute("aria-pressed", on);
    document.querySelectorAll(".scatter").forEach((one) => one.scatter?.respell());
    if (!on || !content) return;
    this.markJoiners(content);
    this.watch ??= new MutationObserver(() => this.markJoiners(content));
    this.watch.observe(content, { childList: true, characterData: true, subtree: true });
  },
  // The mark is no text of the page: it is neither copied nor read aloud.
  markJoiners(content) {
    const texts = document.createTreeWalker(content, NodeFilter.SHOW_TEXT), found = [];
    while (texts.nextNode()) {
      const parent = texts.currentNode.parentElement, word = parent.closest("bdi, [dir='auto']");
      const isMarkable = parent instanceof HTMLElement && word && !word.matches("textarea, summary"); // not a picture in SVG
      if (isMarkable) found.push(texts.currentNode);
    }
    for (const node of found) {
      const isMarked = () => node.previousSibling?.classList?.contains("joiner");
      for (let at; (at = node.data.lastIndexOf("\u200c")) > 0 || (at === 0 && !isMarked()); ) {
        const mark = this.make("span", "");
        mark.className = "joiner";
        mark.ariaHidden = "true";
        node.splitText(at).before(mark);
      }
    }
  },
  sheet(button) {
    button.setAttribute("aria-expanded", button.parentElement.classList.toggle("open"));
  },
  menu(button) {
    const open = document.body.classList.toggle("menu-open");
    button.setAttribute("aria-expanded", open);
  },
  // What needs the places of words on the screen: arcs from a predicate to its roles, clusters that light up, and the
  // chosen word of a sentence that is wider than the page.
  draw() {
    document.querySelectorAll(".scroll [aria-current='true']").forEach((word) => {
      const region = word.closest(".scroll"), place = word.getBoundingClientRect(), box = region.getBoundingClientRect();
      region.scrollLeft += (place.left + place.right - box.left - box.right) / 2;
    });
    document.querySelectorAll(".arcs").forEach((sentence) => this.arcs(sentence));
    document.querySelectorAll("[data-cluster]").forEach((mention) => {
      const same = () => document.querySelectorAll(`[data-cluster="${mention.dataset.cluster}"]`);
      mention.onmouseenter = () => same().forEach((one) => one.classList.add("lit"));
      mention.onmouseleave = () => same().forEach((one) => one.classList.remove("lit"));
    });
  },
  arcs(sentence) {
    sentence.querySelector("svg")?.remove();
    const tokens = sentence.querySelector(".tokens");
    const predicate = tokens.querySelector('[data-role="V"]');
    if (!predicate) return;
    const box = tokens.getBoundingClientRect();
    const middle = (element) => {
      const place = element.getBoundingClientRect();
      return (place.left + place.right) / 2 - box.left;
    };
    const from = middle(predicate);
    const roles = [...tokens.querySelectorAll("[data-role]")].filter((role) => role !== predicate);
    const sides = [roles.filter((role) => middle(role) < from), roles.filter((role) => middle(role) >= from)];
    const step = 26;
    const tall = step * Math.max(1, ...sides.map((side) => side.length)) + 16;
    const make = (name, attributes, parent) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", name);
      Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
      return parent.appendChild(element);
    };
    const svg = make("svg", { width: box.width, height: tall, "aria-hidden": "true" }, tokens);
    tokens.style.paddingBlockStart = `${tall}px`;
    for (const side of sides) {
      side.sort((a, b) => Math.abs(middle(a) - from) - Math.abs(middle(b) - from));
      side.forEach((role, level) => {
        const to = middle(role), sign = Math.sign(to - from) || 1, start = from + sign * (3 + 3 * (side.length - level));
        const top = tall - (level + 1) * step + 6, round = Math.min(8, Math.abs(to - start) / 2);
        const group = make("g", { style: role.getAttribute("style") }, svg);
        make("path", { d: `M${start} ${tall}V${top + round}Q${start} ${top} ${start + sign * round} ${top}H${to - sign * round}Q${to} ${top} ${to} ${top + round}V${tall - 2}` }, group);
        make("path", { class: "head", d: `M${to - 4} ${tall - 6}L${to} ${tall}L${to + 4} ${tall - 6}Z` }, group);
        const label = make("text", { x: (start + to) / 2, y: top + 4, direction: "ltr" }, group);
        label.textContent = role.dataset.role;
      });
    }
  },
  // The number under the mouse in a strip.
  read(event) {
    const image = event.target, output = image.parentElement.querySelector("output");
    if (event.type === "mouseleave") return void (output.textContent = image.dataset.limits);
    const rows = (image.numbers ??= JSON.parse(image.dataset.numbers)), box = image.getBoundingClientRect();
    const find = (offset, size, count) => Math.max(0, Math.min(count - 1, Math.floor((offset / size) * count)));
    const row = find(event.clientY - box.top, box.height, rows.length);
    const column = find(event.clientX - box.left, box.width, rows[row].length);
    output.textContent = `[${rows.length > 1 ? `${row}, ` : ""}${column}] = ${rows[row][column]}`;
  },
  async copy(button) {
    await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
    const text = button.textContent;
    button.textContent = button.dataset.done;
    setTimeout(() => (button.textContent = text), 1500);
  },
};
