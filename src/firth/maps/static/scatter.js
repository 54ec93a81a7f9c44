// A scatter plot of words: points on the GPU (WebGL 2), words on a canvas above them, so that the browser shapes every
// script. One file without dependencies; the explorer, the report and the notebook show it.
//
//   const plot = new Scatter(element, { texts, onPick, onSelect, onView });
//   plot.show(unpack(buffer));
//
// The place of a point is γ·(s₀·a + s₁·b + s₂·c). a, b, c are the projections of a point's layers; its length in the full
// space follows from six inner products, |x|² = Σ sᵢ sⱼ xᵢ·xⱼ, so that "unit length" is exact although only two
// dimensions are sent. The same sum with s = (1 - t, t, 0) moves points from one layout to the next.

const VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec2 first;
layout(location = 1) in vec2 second;
layout(location = 2) in vec2 third;
layout(location = 3) in vec3 squares;   // a·a, b·b, c·c
layout(location = 4) in vec3 products;  // a·b, a·c, b·c
layout(location = 5) in float shade;
layout(location = 6) in float lit;
layout(location = 7) in float density;  // points per unit of area around this one
layout(location = 8) in float kept;     // share of its neighbors that a point kept
uniform vec3 mixing;
uniform float gamma, unit, size, focus, row, overlap;
uniform vec2 middle, scale;
uniform sampler2D palette;
out vec4 tint;
void main() {
  vec2 place = gamma * (mixing.x * first + mixing.y * second + mixing.z * third);
  if (unit > 0.5) {
    vec3 pairs = vec3(mixing.x * mixing.y, mixing.x * mixing.z, mixing.y * mixing.z);
    float square = dot(squares, mixing * mixing) + 2.0 * dot(products, pairs);
    place /= max(abs(gamma), 1e-9) * sqrt(max(square, 1e-12));
  }
  gl_Position = vec4((place - middle) * scale, 0.0, 1.0);
  float column = row < 0.5 ? shade : clamp(shade, 0.0, 1.0) * 255.0;
  vec3 color = texelFetch(palette, ivec2(int(column + 0.5), int(row)), 0).rgb;
  float alpha = clamp(0.95 / sqrt(1.0 + overlap * density), 0.16, 0.92) * mix(0.55, 1.0, kept);
  if (focus > 0.5) alpha = lit > 0.5 ? 1.0 : max(0.012, 0.16 / (1.0 + 0.5 * overlap * density));
  tint = vec4(color, alpha);
  gl_PointSize = size * (focus > 0.5 && lit > 0.5 ? 1.4 : 1.0);
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 tint;
out vec4 color;
void main() {
  float radius = length(gl_PointCoord - 0.5);
  float alpha = tint.a * smoothstep(0.5, 0.36, radius);
  if (alpha < 0.01) discard;
  color = vec4(tint.rgb * alpha, alpha);
}`;

const LIGHT = [
  "#3b6fb6", "#d9722c", "#3d9150", "#a855c7", "#c93f63", "#a98a12", "#1a8f97", "#7a6552", "#6663d9", "#d14b9c",
  "#5f8f1f", "#b3552f", "#2f7fc1", "#8d4fa8", "#4b7d6b", "#c05a77", "#8a7d2a", "#3a6b8f", "#9b5b3c", "#6d7687",
];
const DARK = [
  "#7fabf0", "#f5a05f", "#7fcf8e", "#cf96ee", "#f2829f", "#dfc04d", "#5ccad1", "#bda58e", "#a5a3ff", "#f29ccb",
  "#a6d163", "#e69a78", "#7fc0f2", "#c79be0", "#8cc4b0", "#f0a3b8", "#cdbf69", "#86b5d8", "#d6a084", "#b0b8c6",
];
const RAMPS = { // from low to high
  ramp: { light: ["#b8c4d6", "#4f7fb8", "#14315f"], dark: ["#3c4658", "#5c93d6", "#d3e7ff"] },
  diverging: { light: ["#b8431b", "#b9b5ad", "#14638f"], dark: ["#ff9a6b", "#5b5e66", "#6cc3f5"] },
};
const TEXTS = {
  zoomIn: "Zoom in", zoomOut: "Zoom out", fit: "Show all", lasso: "Select with a lasso", download: "Save as TSV",
  clear: "Clear", selected: "{count} selected", kept: "{count} of 10 neighbors kept", legend: "Legend", of: "{shown} of {count} shown",
  keys: "Arrow keys move the cross, Shift makes small steps, Space sets a corner, Enter selects, Escape cancels.",
  rank: "rank {rank}", word: "word", layer: "layer {layer}", equal: "equal weights", unit: "unit length", second: "context",
  noWebgl: "This browser has no WebGL 2, so the map is shown as a table.",
};
const STYLE = `
:where(.scatter) { inline-size: 100%; block-size: 100%; min-block-size: 240px; }
.scatter { position: relative; overflow: hidden; touch-action: none; user-select: none; outline-offset: -2px; direction: ltr; }
.scatter canvas { position: absolute; inset: 0; inline-size: 100%; block-size: 100%; }
.scatter.lassoing { cursor: crosshair; }
.scatter-tools { position: absolute; inset-block-start: 10px; right: 10px; display: flex; flex-direction: column; gap: 4px; }
.scatter button { font: inherit; cursor: pointer; }
.scatter-tools button { inline-size: 34px; block-size: 34px; display: grid; place-items: center; padding: 0; border-radius: 8px; border: 1px solid var(--scatter-line); background: var(--scatter-card); color: var(--scatter-text); }
.scatter-tools button[aria-pressed="true"] { background: var(--scatter-text); color: var(--scatter-card); }
.scatter-tip, .scatter-legend, .scatter-selection { font: 13px/1.45 var(--font, system-ui, sans-serif); color: var(--scatter-text); background: var(--scatter-card); border: 1px solid var(--scatter-line); border-radius: 8px; }
.scatter-tip { position: absolute; left: 0; top: 0; max-inline-size: min(340px, 80%); padding: 6px 10px; pointer-events: none; box-shadow: 0 3px 14px rgb(0 0 0 / .16); }
.scatter-tip strong { font-weight: 650; }
.scatter-tip small, .scatter-legend small { display: block; opacity: .7; font-size: 11.5px; }
.scatter-tip mark { background: none; color: inherit; font-weight: 700; text-decoration: underline; text-underline-offset: 3px; }
.scatter-tip[hidden], .scatter-legend[hidden], .scatter-selection[hidden] { display: none; }
.scatter-legend { position: absolute; left: 10px; bottom: 10px; max-block-size: min(50%, 380px); max-inline-size: min(250px, 60%); overflow: auto; padding: 6px 8px; opacity: .93; touch-action: pan-y; }
.scatter-legend summary { cursor: pointer; font-weight: 600; padding-inline: 2px; list-style: none; }
.scatter-legend summary::before { content: "▾"; display: inline-block; inline-size: 1.1em; }
.scatter-legend:not([open]) summary::before { content: "▴"; }
.scatter-legend button { display: flex; gap: 7px; align-items: baseline; inline-size: 100%; border: 0; background: none; color: inherit; padding: 1px 2px; text-align: start; border-radius: 4px; }
.scatter-legend button:hover, .scatter-legend button[aria-pressed="true"] { background: var(--scatter-line); }
.scatter-legend i { flex: none; inline-size: 10px; block-size: 10px; border-radius: 50%; }
.scatter-legend b { font-weight: 450; flex: 1; overflow: hidden; text-overflow: ellipsis; }
.scatter-legend span { opacity: .8; font-variant-numeric: tabular-nums; }
.scatter-ramp { block-size: 10px; border-radius: 5px; margin-block: 4px 2px; min-inline-size: 140px; }
.scatter-ends { display: flex; justify-content: space-between; gap: 12px; }
.scatter-selection { position: absolute; right: 10px; bottom: 10px; max-block-size: 55%; inline-size: min(300px, 60%); display: flex; flex-direction: column; overflow: hidden; }
.scatter-selection header { display: flex; gap: 6px; align-items: center; padding: 6px 8px; border-block-end: 1px solid var(--scatter-line); flex-wrap: wrap; }
.scatter-selection header b { flex: 1; font-weight: 600; white-space: nowrap; }
.scatter-selection header button { border: 1px solid var(--scatter-line); border-radius: 6px; background: none; color: inherit; padding: 1px 8px; font-size: 12px; }
.scatter-rows { overflow: auto; touch-action: pan-y; }
.scatter-selection table, .scatter-plain table { inline-size: 100%; border-collapse: collapse; font-size: 12.5px; }
.scatter-selection td, .scatter-plain td, .scatter-plain th { padding: 2px 8px; text-align: start; border-block-end: 1px solid var(--scatter-line); }
.scatter-selection td + td, .scatter-plain td + td { opacity: .7; }
.scatter-rows button, .scatter-plain button { border: 0; background: none; color: inherit; padding: 0; text-align: start; }
.scatter-plain { block-size: 100%; overflow: auto; padding: 12px; font: 14px/1.5 var(--font, system-ui, sans-serif); touch-action: auto; user-select: text; }
.scatter-plain p { margin: 0 0 8px; }
.mixer { display: grid; gap: 6px; max-inline-size: 34rem; font: 13px/1.45 var(--font, system-ui, sans-serif); }
.mixer label { display: grid; grid-template-columns: 2em 1fr 3em; gap: 8px; align-items: center; direction: ltr; }
.mixer label.unit { grid-template-columns: auto 1fr; direction: inherit; }
.mixer output { font-variant-numeric: tabular-nums; text-align: end; }
.mixer input { accent-color: var(--accent, #0f766e); }
.mixer input[type="range"] { inline-size: 100%; margin: 0; }
.mixer-layers { display: flex; flex-wrap: wrap; gap: 4px; }
.mixer-layers button[aria-pressed="true"] { border-color: var(--accent, #0f766e); color: var(--accent, #0f766e); font-weight: 650; opacity: 1; }
.mixer-layers button { font: inherit; color: inherit; background: none; border: 1px solid currentColor; border-radius: 6px; padding: 2px 7px; opacity: .8; cursor: pointer; }
[dir="rtl"] .scatter-tools { right: auto; left: 10px; }
[dir="rtl"] .scatter-legend { left: auto; right: 10px; }
[dir="rtl"] .scatter-selection { right: auto; left: 10px; }
.scatter-help { position: absolute; left: 50%; top: 12px; translate: -50% 0; max-inline-size: calc(100% - 120px); padding: 4px 10px; font: 12.5px/1.45 var(--font, system-ui, sans-serif); color: var(--scatter-card); background: var(--scatter-text); border-radius: 8px; pointer-events: none; }
.scatter-help[hidden] { display: none; }
.scatter-live { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); }
@media (max-width: 700px) { .scatter .scatter-selection { left: 10px; right: 10px; inline-size: auto; max-block-size: 45%; } .scatter-legend { max-inline-size: 55%; max-block-size: 45%; } }
`;
const ICONS = {
  zoomIn: "M12 5v14M5 12h14", zoomOut: "M5 12h14", fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  lasso: "M7 17c-3-1-4-4-3-7 2-5 11-7 15-4 3 3 0 9-6 10-3 .5-5 0-6-1M7 17c-1 1 0 3 2 4",
};
const MOST_LABELS = 160;
const FEW = 500; // of so few points a word is moved until it covers no point, no arrow and no other word
const AROUND = 80; // points that are seen at least around a word that was searched
const RING = 10; // pixels around the point that was searched
const STEP = 24; // pixels that the cross of the keyboard moves
const MOST_ROWS = 200;
const GRID = 256;
const ALWAYS = 100000; // so many points are drawn in every frame, the others only if the frames of a movement keep up
const SMOOTH = 50; // milliseconds of a frame while the map moves

/** A packed plot: a header in JSON, then float32 arrays: layers, second positions, inner products, fields. */
export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  let offset = 4 + length;
  const take = (count) => {
    const array = new Float32Array(buffer, offset, count);
    offset += 4 * count;
    return array;
  };
  const layers = Array.from({ length: head.layers }, () => take(2 * head.size));
  const second = head.second ? take(2 * head.size) : null;
  const squares = head.norms ? take(3 * head.size) : null;
  const products = head.norms ? take(3 * head.size) : null;
  const fields = head.fields.map((field) => ({ ...field, values: take(head.size) }));
  return { ...head, layers, second, squares, products, fields };
}

/** The red, green and blue of "#rrggbb". */
function parse(color) {
  return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
}

/** A color of a ramp at a share from 0 to 1. */
function blend(stops, share) {
  const at = Math.min(share * (stops.length - 1), stops.length - 1 - 1e-6);
  const from = parse(stops[Math.floor(at)]);
  const to = parse(stops[Math.floor(at) + 1]);
  return from.map((value, k) => Math.round(value + (to[k] - value) * (at % 1)));
}

function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** Whether a line ax, ay, bx, by passes through a box. */
function crosses([ax, ay, bx, by], left, top, right, bottom) {
  let [from, to] = [0, 1];
  for (const [start, step, low, high] of [[ax, bx - ax, left, right], [ay, by - ay, top, bottom]]) {
    if (step === 0) {
      if (start < low || start > high) return false;
      continue;
    }
    const [one, other] = [(low - start) / step, (high - start) / step];
    [from, to] = [Math.max(from, Math.min(one, other)), Math.min(to, Math.max(one, other))];
  }
  return from <= to;
}

/** How far a point is from a box. */
function gapTo(x, y, [left, top, right, bottom]) {
  return Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
}

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

export class Scatter {
  constructor(element, options = {}) {
    this.options = { unit: false, pointSize: 4, labels: true, ...options };
    this.texts = { ...TEXTS, ...options.texts };
    this.element = element;
    Object.assign(this, { size: 0, mixing: [1, 0, 0], gamma: 1, unit: this.options.unit, view: { x: 0, y: 0, k: 1 } });
    Object.assign(this, { lit: [], center: -1, hovered: -1, path: null, field: null, arrows: [], frames: 0, renderMs: 0 });
    if (!document.getElementById("scatter-style")) {
      document.head.append(make("style", { id: "scatter-style", textContent: STYLE }));
    }
    element.classList.add("scatter");
    element.tabIndex = 0;
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", this.options.label ?? "");
    element.scatter = this;
    this.away = { x: 0, y: 0 }; // of its view from that of the other of two plots
    this.points = make("canvas", { ariaHidden: "true" });
    this.words = make("canvas", { role: "img" }); // `describe` says what it shows
    this.tip = make("div", { className: "scatter-tip", hidden: true, dir: "auto" });
    const dir = document.documentElement.dir || "ltr";
    this.legend = make("details", { className: "scatter-legend", hidden: true, dir });
    this.selection = make("section", { className: "scatter-selection", hidden: true, dir });
    this.help = make("p", { className: "scatter-help", hidden: true, textContent: this.texts.keys, dir });
    this.live = make("div", { className: "scatter-live" });
    this.live.setAttribute("aria-live", "polite");
    this.tools = make("div", { className: "scatter-tools" });
    element.replaceChildren(this.points, this.words, this.legend, this.selection, this.tools, this.tip, this.help, this.live);
    this.makeTools();
    this.listen();
    this.failed = !this.start();
    if (this.failed) this.options.onFail?.();
  }

  // the GPU

  start() {
    const gl = this.points.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
    if (!gl) return false;
    this.gl = gl;
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? "WebGL");
    gl.useProgram(program);
    const names = ["mixing", "gamma", "unit", "size", "focus", "row", "overlap", "middle", "scale"];
    this.uniforms = Object.fromEntries(names.map((name) => [name, gl.getUniformLocation(program, name)]));
    this.buffers = Array.from({ length: 9 }, () => gl.createBuffer());
    this.texture = gl.createTexture();
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    return true;
  }

  upload(slot, values, width) {
    const gl = this.gl;
    if (!values) {
      gl.disableVertexAttribArray(slot);
      gl.vertexAttrib3f(slot, slot === 8 ? 1 : 0, 0, 0);
      return;
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[slot]);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(slot);
    gl.vertexAttribPointer(slot, width, gl.FLOAT, false, 0, 0);
  }

  uploadAll() {
    for (let k = 0; k < 3; k++) this.upload(k, this.layers[k], 2);
    this.upload(3, this.squares, 3);
    this.upload(4, this.products, 3);
    this.upload(5, this.field?.values, 1);
    this.upload(6, this.flags, 1);
    this.upload(8, this.data.fields.find((field) => field.key === "kept")?.values, 1);
    this.paint();
  }

  /** Colors for light and dark: the text color of the page tells which. */
  paint() {
    const style = getComputedStyle(this.element);
    this.ink = style.color;
    const [red, green, blue] = (this.ink.match(/[\d.]+/g) ?? [0, 0, 0]).map(Number);
    this.dark = 0.3 * red + 0.59 * green + 0.11 * blue > 128;
    const colors = this.dark ? ["#1e2126", "#3a3f47", "#e8e7e3"] : ["#ffffff", "#dcd9d2", "#1d1c1a"];
    ["card", "line", "text"].forEach((name, k) => this.element.style.setProperty(`--scatter-${name}`, colors[k]));
    this.tones = this.dark ? DARK : LIGHT;
    this.drawLegend();
    if (this.failed) return;
    const pixels = new Uint8Array(4 * 256 * 2);
    const stops = this.stops();
    for (let column = 0; column < 256; column++) {
      pixels.set([...parse(this.tones[column % this.tones.length]), 255], 4 * column);
      pixels.set([...blend(stops, column / 255), 255], 4 * (256 + column));
    }
    const gl = this.gl;
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 2, 0, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  }

  stops() {
    return (RAMPS[this.field?.kind] ?? RAMPS.ramp)[this.dark ? "dark" : "light"];
  }

  tone(index) {
    return this.tones[index % this.tones.length];
  }

  // data

  /** Shows a plot; `view` keeps a view, else all points are shown. */
  show(data, view = null) {
    this.data = data;
    this.size = data.size;
    this.names = data.names;
    this.layers = data.layers.slice();
    this.squares = data.squares;
    this.products = data.products;
    this.mixing = data.mixing ?? [1, 0, 0];
    this.gamma = data.gamma ?? 1;
    this.onSecond = false;
    this.arrows = data.arrows ?? [];
    this.flags = new Float32Array(this.size);
    this.widths = new Float32Array(this.size);
    this.lit = [];
    this.center = this.hovered = -1;
    this.selection.hidden = this.tip.hidden = true;
    this.field = data.fields.find((field) => field.key === data.field) ?? data.fields[0] ?? null;
    this.forget();
    this.densities = null;
    this.byName = this.marks = null;
    this.describe();
    this.share = this.last = 0;
    this.pace = this.took = undefined;
    if (this.failed) {
      this.paint();
      this.showTable();
      return;
    }
    this.uploadAll();
    this.resize();
    if (data.second && data.startsSecond) this.showSecond(0);
    if (view) this.view = view;
    else this.fit(false);
    this.draw();
  }

  /** What the picture shows, in words, for those who do not see it: its title and the names of its groups. */
  describe() {
    const groups = this.data.fields.find((field) => field.kind === "category")?.names ?? [];
    this.words.ariaLabel = [this.options.label, groups.slice(0, 12).join("; ")].filter(Boolean).join(". ");
  }

  /** Without WebGL 2: a message and a table. */
  showTable() {
    const rows = this.rows(Array.from({ length: Math.min(this.size, 1000) }, (_, id) => id));
    const note = fill(this.texts.of, { shown: rows.length.toLocaleString("en"), count: this.size.toLocaleString("en") });
    const message = make("p", { textContent: this.texts.noWebgl });
    message.setAttribute("role", "alert");
    this.element.replaceChildren(make("div", { className: "scatter-plain" }, message, make("p", { textContent: note }), this.table(rows)));
  }

  name(id) {
    return this.names?.[id] ?? this.data.contexts?.[id]?.join("") ?? String(id);
  }

  find(name) {
    this.byName ??= new Map(this.names?.map((one, id) => [one, id]));
    return this.byName.get(name) ?? -1;
  }

  /** Colors points by a field of the data. */
  colorBy(key) {
    const found = this.data.fields.find((one) => one.key === key);
    if (!found) return;
    this.field = found;
    if (!this.failed) this.upload(5, found.values, 1);
    this.paint();
    this.draw();
  }

  /** Adds a field that was computed later, or replaces one. */
  addField(field, show = false) {
    this.data.fields = [...this.data.fields.filter((one) => one.key !== field.key), field];
    if (field.key === "kept" && !this.failed) this.upload(8, field.values, 1);
    if (show || this.field?.key === field.key) this.colorBy(field.key);
    this.draw();
  }

  /** Moves the points to the second positions of the data. */
  showSecond(milliseconds = 500) {
    if (this.failed || this.onSecond) return;
    this.onSecond = true;
    this.morph(this.data.second, milliseconds);
  }

  /** Back from the second positions to those of the layers. */
  showLayers() {
    this.onSecond = false;
    Object.assign(this, { layers: this.data.layers.slice(), squares: this.data.squares, products: this.data.products });
    this.densities = null;
    this.uploadAll();
  }

  /** The weights of the layers and γ. The view follows the mean of the points. Nothing is asked of the server. */
  mix(mixing, gamma = this.gamma, unit = this.unit) {
    const wasOnSecond = this.onSecond;
    if (wasOnSecond) this.showLayers();
    const before = this.mean();
    this.mixing = mixing;
    this.gamma = gamma;
    this.unit = unit;
    this.forget();
    const after = this.mean();
    this.view = { ...this.view, x: this.view.x + after[0] - before[0], y: this.view.y + after[1] - before[1] };
    if (wasOnSecond) this.fit(false);
    this.draw();
  }

  mean() {
    const places = this.locate();
    let [x, y] = [0, 0];
    for (let k = 0; k < places.length; k += 2) [x, y] = [x + places[k], y + places[k + 1]];
    return [x / this.size, y / this.size];
  }

  /** Moves the points to other positions; in no time they are there, and the caller draws. */
  morph(positions, milliseconds = 500) {
    if (this.failed) return;
    const here = milliseconds > 0 ? this.locate().slice() : positions;
    this.layers = [here, positions];
    this.squares = this.products = null;
    this.mixing = [1, 0, 0];
    this.gamma = 1;
    this.forget();
    this.densities = null;
    this.uploadAll();
    this.upload(1, positions, 2);
    if (!milliseconds) return;
    const follow = !this.moved;
    const begin = performance.now();
    const step = (now) => {
      if (this.layers[1] !== positions) return; // a newer layout has arrived
      const share = Math.min(1, Math.max(0, (now - begin) / milliseconds));
      const eased = share * share * (3 - 2 * share);
      this.mixing = [1 - eased, eased, 0];
      this.forget();
      if (follow && !this.moved) this.fit(false);
      this.draw();
      if (share < 1) requestAnimationFrame(step);
      else this.densities = null;
    };
    requestAnimationFrame(step);
  }

  /** Positions (x, y, x, y, …) of all points, as the shader computes them. */
  locate() {
    if (this.places) return this.places;
    const places = new Float32Array(2 * this.size);
    const [s, t, u] = this.mixing;
    const [first, second, third] = this.layers;
    for (let k = 0; k < places.length; k++) {
      places[k] = this.gamma * (s * first[k] + (second ? t * second[k] : 0) + (third ? u * third[k] : 0));
    }
    if (this.unit && this.squares) {
      for (let id = 0; id < this.size; id++) {
        const [a, b, c] = this.squares.subarray(3 * id);
        const [ab, ac, bc] = this.products.subarray(3 * id);
        const square = a * s * s + b * t * t + c * u * u + 2 * (ab * s * t + ac * s * u + bc * t * u);
        const length = Math.max(Math.abs(this.gamma), 1e-9) * Math.sqrt(Math.max(square, 1e-12));
        places[2 * id] /= length;
        places[2 * id + 1] /= length;
      }
    }
    return (this.places = places);
  }

  /** Forgets what depends on the places of the points. */
  forget() {
    this.places = this.grid = this.extent = null;
  }

  bounds() {
    if (this.extent) return this.extent;
    const places = this.locate();
    let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let k = 0; k < places.length; k += 2) {
      left = Math.min(left, places[k]);
      right = Math.max(right, places[k]);
      bottom = Math.min(bottom, places[k + 1]);
      top = Math.max(top, places[k + 1]);
    }
    return (this.extent = { left, right, bottom, top });
  }

  /** Points by cell of a grid: ids[starts[cell]] … ids[starts[cell + 1] - 1]. */
  cells() {
    if (this.grid) return this.grid;
    const places = this.locate();
    const { left, right, bottom, top } = this.bounds();
    const wide = (GRID - 1e-3) / (right - left || 1);
    const high = (GRID - 1e-3) / (top - bottom || 1);
    const starts = new Uint32Array(GRID * GRID + 1);
    const cell = new Uint16Array(this.size);
    for (let id = 0; id < this.size; id++) {
      cell[id] = Math.floor((places[2 * id + 1] - bottom) * high) * GRID + Math.floor((places[2 * id] - left) * wide);
      starts[cell[id] + 1]++;
    }
    for (let k = 0; k < GRID * GRID; k++) starts[k + 1] += starts[k];
    const next = starts.slice();
    const ids = new Uint32Array(this.size);
    for (let id = 0; id < this.size; id++) ids[next[cell[id]]++] = id;
    return (this.grid = { left, bottom, wide, high, starts, ids, cell });
  }

  /** The ids of the points in a box, by rank. */
  inside(left, right, bottom, top) {
    const grid = this.cells();
    const places = this.locate();
    const clamp = (value) => Math.max(0, Math.min(GRID - 1, Math.floor(value)));
    const found = [];
    for (let row = clamp((bottom - grid.bottom) * grid.high); row <= clamp((top - grid.bottom) * grid.high); row++) {
      for (let column = clamp((left - grid.left) * grid.wide); column <= clamp((right - grid.left) * grid.wide); column++) {
        for (let k = grid.starts[row * GRID + column]; k < grid.starts[row * GRID + column + 1]; k++) {
          const id = grid.ids[k];
          const x = places[2 * id];
          const y = places[2 * id + 1];
          if (x >= left && x <= right && y >= bottom && y <= top) found.push(id);
        }
      }
    }
    return found;
  }

  /** Points per unit of area around each point, over 3 × 3 cells: crowded points are drawn more transparent. */
  measureDensity() {
    const { starts, cell, wide, high } = this.cells();
    const sums = new Float32Array(GRID * GRID);
    for (let row = 0; row < GRID; row++) {
      for (let column = 0; column < GRID; column++) {
        const first = Math.max(0, column - 1);
        const last = Math.min(GRID - 1, column + 1);
        for (let near = Math.max(0, row - 1); near <= Math.min(GRID - 1, row + 1); near++) {
          sums[row * GRID + column] += starts[near * GRID + last + 1] - starts[near * GRID + first];
        }
      }
    }
    this.densities = new Float32Array(this.size);
    for (let id = 0; id < this.size; id++) this.densities[id] = (sums[cell[id]] * wide * high) / 9;
    this.upload(7, this.densities, 1);
  }

  // the view: its middle (x, y) and k, half the shorter side of the window over the units that it shows

  scales() {
    return [this.view.k * Math.min(1, this.height / this.width), this.view.k * Math.min(1, this.width / this.height)];
  }

  toPixel(id) {
    const places = this.locate();
    const [wide, high] = this.scales();
    return [
      ((1 + (places[2 * id] - this.view.x) * wide) * this.width) / 2,
      ((1 - (places[2 * id + 1] - this.view.y) * high) * this.height) / 2,
    ];
  }

  fromPixel(x, y) {
    const [wide, high] = this.scales();
    return [this.view.x + ((2 * x) / this.width - 1) / wide, this.view.y + (1 - (2 * y) / this.height) / high];
  }

  fit(animate = true) {
    if (!this.size || !this.width) return;
    const { left, right, bottom, top } = this.bounds();
    const shorter = Math.min(this.width, this.height);
    const covered = this.size < 1000 && this.legend.open && !this.legend.hidden ? Math.min(this.legend.offsetHeight, this.height / 3) : 0;
    const [least, part] = this.size < 1000 ? [64, 0.125] : [0, 0.04]; // few points have words around them
    const free = (side) => Math.max(side / 4, side - 2 * Math.max(least, part * side));
    const pixels = Math.min(free(this.width) / (right - left || 1e-6), free(this.height - covered) / (top - bottom || 1e-6));
    const k = Math.min(2 * pixels, 1e6 * shorter) / shorter;
    const view = { x: (left + right) / 2, y: (bottom + top) / 2 - covered / (k * shorter), k }; // few points lie above the legend
    this.moved = false;
    this.away = { x: 0, y: 0 };
    if (animate && this.partner) this.partner.away = this.away;
    if (animate) this.travel(view);
    else this.view = view;
  }

  travel(view, milliseconds = 350) {
    const from = { ...this.view };
    const begin = performance.now();
    const step = (now) => {
      const share = Math.min(1, Math.max(0, (now - begin) / milliseconds));
      const eased = share * share * (3 - 2 * share);
      const k = from.k * (view.k / from.k) ** eased;
      const away = from.k === view.k ? 1 - eased : (1 / k - 1 / view.k) / (1 / from.k - 1 / view.k); // the target stays in view
      const between = (name) => view[name] + (from[name] - view[name]) * away;
      this.view = { x: between("x"), y: between("y"), k };
      this.move();
      this.draw();
      if (share < 1) requestAnimationFrame(step);
      else this.changed();
    };
    requestAnimationFrame(step);
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const before = this.fromPixel(x, y);
    this.view = { ...this.view, k: Math.min(1e7, Math.max(1e-7, this.view.k * factor)) };
    const after = this.fromPixel(x, y);
    this.view.x += before[0] - after[0];
    this.view.y += before[1] - after[1];
    this.changed();
    this.draw();
  }

  pan(x, y) {
    const [wide, high] = this.scales();
    this.view = { ...this.view, x: this.view.x - (2 * x) / (this.width * wide), y: this.view.y + (2 * y) / (this.height * high) };
    this.changed();
    this.draw();
  }

  /** Moves the other of two plots as this one has moved. */
  lead() {
    const { view, away, partner } = this;
    partner?.setView({ x: view.x - away.x + partner.away.x, y: view.y - away.y + partner.away.y, k: view.k });
  }

  /** Makes the other of two plots show a word at the same place of its window: two layouts never agree entirely. */
  tie(word) {
    const [here, there] = [this.find(word), this.partner?.find(word) ?? -1];
    if (here < 0 || there < 0 || this.failed) return;
    const [mine, theirs] = [this.locate(), this.partner.locate()];
    this.away = { x: 0, y: 0 };
    this.partner.away = { x: theirs[2 * there] - mine[2 * here], y: theirs[2 * there + 1] - mine[2 * here + 1] };
    this.lead();
  }

  setView(view) {
    this.view = { ...view };
    this.moved = true;
    this.move();
    this.draw();
  }

  /** While a map of very many points moves, as many are drawn as the browser can; when it rests, all. */
  move() {
    if (this.size <= ALWAYS) return;
    this.share ||= this.pace ?? 1; // as the last movement ended
    clearTimeout(this.resting);
    const rest = () => {
      if (this.held.size) return this.move();
      this.share = this.last = 0;
      this.draw();
    };
    this.resting = setTimeout(rest, Math.max(250, 3 * (this.took ?? 1000)));
  }

  /** The number of points of this frame, the frequent words first: fewer after a frame that took long. */
  countDrawn() {
    if (!this.share) return this.size;
    const now = performance.now();
    if (this.last) {
      this.took = now - this.last;
      this.share = this.pace = Math.min(1, Math.max(ALWAYS / this.size, this.share * Math.min(1.5, SMOOTH / this.took)));
    }
    this.last = now;
    return Math.round(this.share * this.size);
  }

  changed() {
    this.moved = true;
    clearTimeout(this.reporting);
    this.reporting = setTimeout(() => this.options.onView?.({ ...this.view }), 300);
    this.move();
    this.lead();
  }

  // marks

  /** Lights points up, one of them in the center of a ring. */
  light(ids, center = -1, go = false) {
    this.lit = ids.slice();
    this.center = center;
    if (this.failed || !this.data) return;
    this.flags.fill(0);
    for (const id of ids) this.flags[id] = 1;
    if (center >= 0) this.flags[center] = 1;
    this.upload(6, this.flags, 1);
    if (go && center >= 0) this.goTo(center);
    this.draw();
  }

  /** Lights words up by name, for two plots of different models. */
  lightWords(words, center = "", go = false) {
    this.light(words.map((word) => this.find(word)).filter((id) => id >= 0), this.find(center), go);
  }

  /** Travels to a point, so near that two in five of the lit points are seen around it, with AROUND points or some space. */
  goTo(id) {
    const places = this.locate();
    const [x, y] = [places[2 * id], places[2 * id + 1]];
    const gaps = this.lit.filter((one) => one !== id).map((one) => Math.hypot(places[2 * one] - x, places[2 * one + 1] - y));
    const { left, right, bottom, top } = this.bounds();
    const whole = Math.max(right - left, top - bottom, 1e-6);
    const near = gaps.sort((a, b) => a - b)[Math.floor(0.4 * gaps.length)] ?? 0;
    let reach = whole / 200;
    while (reach < whole && this.inside(x - reach, x + reach, y - reach, y + reach).length < Math.min(AROUND, this.size)) reach *= 1.3;
    if (near > 0) reach = Math.max(near, Math.min(reach, 8 * near)); // a tight group in an empty area is not a dot
    this.travel({ x, y, k: 0.75 / Math.min(reach, whole / 4) });
  }

  pick(x, y, reach = 12) {
    const [left, top] = this.fromPixel(x - reach, y - reach);
    const [right, bottom] = this.fromPixel(x + reach, y + reach);
    let best = -1;
    let least = reach * reach;
    for (const id of this.inside(left, right, bottom, top)) {
      const [px, py] = this.toPixel(id);
      const square = (px - x) ** 2 + (py - y) ** 2;
      if (square < least || (square === least && id < best)) [best, least] = [id, square];
    }
    return best;
  }

  /** The ids of the points within a polygon of pixels. */
  within(path) {
    const [xs, ys] = [path.map(([x]) => x), path.map(([, y]) => y)];
    const [left, top] = this.fromPixel(Math.min(...xs), Math.min(...ys));
    const [right, bottom] = this.fromPixel(Math.max(...xs), Math.max(...ys));
    return this.inside(left, right, bottom, top).filter((id) => {
      const [x, y] = this.toPixel(id);
      let odd = false;
      for (let j = 0, k = path.length - 1; j < path.length; k = j++) {
        const [[ax, ay], [bx, by]] = [path[j], path[k]];
        if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) odd = !odd;
      }
      return odd;
    }).sort((a, b) => a - b);
  }

  /** Selects points: they light up, and their table appears. */
  select(ids) {
    this.light(ids);
    this.selection.hidden = ids.length === 0;
    this.options.onSelect?.({ count: ids.length, ids: ids.slice(0, MOST_ROWS) });
    if (!ids.length) return;
    const title = make("b", { textContent: fill(this.texts.selected, { count: ids.length.toLocaleString("en") }) });
    const save = make("button", { type: "button", textContent: this.texts.download, onclick: () => this.save(ids) });
    const clear = make("button", { type: "button", textContent: this.texts.clear, onclick: () => this.select([]) });
    const rows = make("div", { className: "scatter-rows", tabIndex: 0, role: "region", ariaLabel: title.textContent }, this.table(this.rows(ids.slice(0, MOST_ROWS))));
    this.selection.replaceChildren(make("header", {}, title, save, clear), rows);
    this.live.textContent = title.textContent;
  }

  group(id) {
    const field = this.data.fields.find((one) => one.kind === "category");
    return field ? (field.names?.[field.values[id]] ?? "") : "";
  }

  rows(ids) {
    return ids.map((id) => [id, this.name(id), this.group(id)]);
  }

  table(rows) {
    const body = make("tbody");
    for (const [id, name, group] of rows) {
      const word = make("button", { type: "button", textContent: name, onclick: () => this.options.onPick?.(id, this.name(id)) });
      body.append(make("tr", {}, make("td", { dir: "auto" }, word), make("td", { textContent: group, dir: "auto" })));
    }
    return make("table", {}, body);
  }

  /** The selection as tab-separated values: word, position, and every field. */
  toTsv(ids) {
    const places = this.locate();
    const clean = (text) => String(text).replace(/[\t\r\n]+/g, " ");
    const head = [this.texts.word, "x", "y", ...this.data.fields.map((field) => field.key)];
    const lines = ids.map((id) => {
      const values = this.data.fields.map((field) => (field.names ? field.names[field.values[id]] : field.values[id]));
      return [this.name(id), places[2 * id], places[2 * id + 1], ...values].map(clean).join("\t");
    });
    return [head.join("\t"), ...lines, ""].join("\n");
  }

  save(ids) {
    const file = new Blob([this.toTsv(ids)], { type: "text/tab-separated-values" });
    const link = make("a", { href: URL.createObjectURL(file), download: "selection.tsv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // parts in HTML

  makeTools() {
    const actions = {
      zoomIn: () => this.zoom(1.5), zoomOut: () => this.zoom(1 / 1.5), fit: () => this.fit(),
      lasso: (event) => this.setLasso(!this.lassoing, event.detail === 0),
    };
    for (const [name, onclick] of Object.entries(actions)) {
      const button = make("button", { type: "button", title: this.texts[name], onclick });
      button.setAttribute("aria-label", this.texts[name]);
      button.innerHTML = `<svg viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`;
      if (name === "lasso") this.lassoButton = button;
      this.tools.append(button);
    }
  }

  /** Turns the lasso on or off. By keyboard, a cross stands in the middle, and its corners are set with Space. */
  setLasso(on, byKeyboard = false) {
    this.lassoing = on;
    this.lassoButton.setAttribute("aria-pressed", String(on));
    this.element.classList.toggle("lassoing", on);
    this.cross = on && byKeyboard && !this.failed ? [Math.round(this.width / 2), Math.round(this.height / 2)] : null;
    this.path = this.cross ? [] : null;
    this.help.hidden = !this.cross;
    if (this.cross) {
      this.live.textContent = this.texts.keys;
      this.element.focus({ preventScroll: true });
    }
    this.draw();
  }

  /** A key while the lasso is on: moves the cross, sets a corner, selects what lies inside, or cancels. */
  pressLassoKey(event) {
    const step = event.shiftKey ? STEP / 4 : STEP;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (event.key in moves) {
      if (!this.cross) this.setLasso(true, true);
      const clamp = (value, most) => Math.max(0, Math.min(most, value));
      const [x, y] = moves[event.key];
      this.cross = [clamp(this.cross[0] + x, this.width), clamp(this.cross[1] + y, this.height)];
      this.hover(this.pick(...this.cross));
      this.draw();
    } else if (this.cross && event.key === " ") {
      this.path.push([...this.cross]);
      this.draw();
    } else if (this.cross && event.key === "Enter") {
      const path = this.closePath();
      this.setLasso(false);
      this.hover(-1);
      if (path.length > 2) this.select(this.within(path));
    } else if (event.key === "Escape" || event.key === "l") {
      this.setLasso(false);
      this.hover(-1);
    } else {
      return;
    }
    event.preventDefault();
  }

  /** The corners and the cross as a polygon; one corner and the cross are opposite corners of a box. */
  closePath() {
    const path = [...this.path, this.cross];
    if (path.length !== 2) return path;
    const [[ax, ay], [bx, by]] = path;
    return [[ax, ay], [bx, ay], [bx, by], [ax, by]];
  }

  drawLegend() {
    const field = this.field;
    this.legend.hidden = !field || this.options.legend === false;
    if (this.legend.hidden) return;
    if (!this.legend.children.length) { // a long legend would cover the map of a small window
      this.legend.open = this.element.clientWidth > ((field.names?.length ?? 0) > 6 ? 900 : 700);
    }
    const summary = make("summary", { textContent: field.label ?? this.texts.legend, dir: "auto" });
    if (field.kind !== "category") {
      const colors = [0, 0.25, 0.5, 0.75, 1].map((share) => `rgb(${blend(this.stops(), share).join(" ")})`).join(", ");
      const ramp = make("div", { className: "scatter-ramp" });
      ramp.style.background = `linear-gradient(90deg, ${colors})`;
      const ends = make("div", { className: "scatter-ends", dir: "ltr" });
      ends.append(make("small", { textContent: field.low ?? "", dir: "auto" }), make("small", { textContent: field.high ?? "", dir: "auto" }));
      this.legend.replaceChildren(summary, ramp, ends);
      return;
    }
    const counts = new Map();
    for (const value of field.values) counts.set(value, (counts.get(value) ?? 0) + 1);
    const entries = (field.names ?? []).map((name, index) => {
      const dot = make("i");
      dot.style.background = this.tone(index);
      const label = make("b", { textContent: name, dir: "auto" });
      const count = make("span", { textContent: (counts.get(index) ?? 0).toLocaleString("en") });
      const entry = make("button", { type: "button" }, dot, label, count);
      entry.onclick = () => this.toggleGroup(field, index, entry);
      return entry;
    });
    this.legend.replaceChildren(summary, ...entries);
  }

  toggleGroup(field, index, entry) {
    const on = entry.getAttribute("aria-pressed") !== "true";
    for (const other of this.legend.querySelectorAll("button")) other.setAttribute("aria-pressed", "false");
    entry.setAttribute("aria-pressed", String(on));
    const members = [];
    for (let id = 0; on && id < this.size; id++) if (field.values[id] === index) members.push(id);
    this.light(members);
  }

  /** What is known of the point under the pointer. */
  hover(id, x = 0, y = 0) {
    if (id === this.hovered) return;
    this.hovered = id;
    this.options.onHover?.(id, id >= 0 ? this.name(id) : "");
    this.partner?.echo(id >= 0 ? this.name(id) : "");
    this.draw();
    this.tip.hidden = id < 0;
    if (id < 0) return;
    const parts = [];
    const context = this.data.contexts?.[id]; // before, word, after
    if (context) parts.push(make("span", {}, context[0], make("mark", { textContent: context[1] }), context[2]));
    else parts.push(make("strong", { textContent: this.name(id) }));
    const kept = this.data.fields.find((field) => field.key === "kept");
    const notes = [this.group(id)];
    if (this.field?.key === "frequency") notes.push(fill(this.texts.rank, { rank: (id + 1).toLocaleString("en") }));
    if (kept) notes.push(fill(this.texts.kept, { count: Math.round(10 * kept.values[id]) }));
    if (this.field && this.field.kind !== "category" && !["kept", "frequency"].includes(this.field.key) && this.field.raw !== false) {
      notes.push(`${this.field.label}: ${Number(this.field.values[id].toPrecision(3))}`);
    }
    parts.push(make("small", { textContent: notes.filter(Boolean).join(" · "), dir: "auto" }));
    this.tip.replaceChildren(...parts);
    const [px, py] = this.toPixel(id);
    const left = px + 14 + this.tip.offsetWidth > this.width ? px - 14 - this.tip.offsetWidth : px + 14;
    const top = Math.min(py + 10, this.height - this.tip.offsetHeight - 6);
    this.tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
    this.live.textContent = this.tip.textContent;
  }

  /** The same word in the other of two plots. */
  echo(name) {
    this.echoed = name ? this.find(name) : -1;
    this.draw();
  }

  // events

  listen() {
    const { element, words } = this;
    new ResizeObserver(() => this.size && !this.failed && (this.resize(), this.moved || this.fit(false), this.draw())).observe(element);
    const repaint = () => this.data && getComputedStyle(element).color !== this.ink && (this.paint(), this.draw());
    new MutationObserver(repaint).observe(document.body, { attributes: true, attributeFilter: ["class", "style", "data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
    this.points.addEventListener("webglcontextlost", (event) => event.preventDefault());
    this.points.addEventListener("webglcontextrestored", () => this.start() && this.data && (this.uploadAll(), (this.densities = null), this.draw()));
    words.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), event.offsetX, event.offsetY);
    }, { passive: false });
    words.addEventListener("dblclick", (event) => this.zoom(2, event.offsetX, event.offsetY));
    this.held = new Map(); // pointers that are down
    words.addEventListener("pointerdown", (event) => this.press(event));
    words.addEventListener("pointermove", (event) => this.drag(event));
    words.addEventListener("pointerup", (event) => this.release(event));
    words.addEventListener("pointercancel", (event) => (this.held.delete(event.pointerId), (this.path = null), this.draw()));
    words.addEventListener("pointerleave", () => this.hover(-1));
    element.addEventListener("keydown", (event) => this.pressKey(event));
  }

  press(event) {
    this.words.setPointerCapture(event.pointerId);
    this.held.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.traveled = 0;
    if (this.cross) this.setLasso(true); // the mouse takes over from the keyboard
    if ((event.shiftKey || this.lassoing) && this.held.size === 1) this.path = [[event.offsetX, event.offsetY]];
  }

  drag(event) {
    const from = this.held.get(event.pointerId);
    const [x, y] = [event.offsetX, event.offsetY];
    if (!from) {
      if (this.size) this.hover(this.pick(x, y), x, y);
      return;
    }
    this.held.set(event.pointerId, { x, y });
    this.traveled += Math.abs(x - from.x) + Math.abs(y - from.y);
    if (this.path && this.held.size === 1) {
      this.path.push([x, y]);
      this.draw();
      return;
    }
    if (this.held.size === 2) {
      const [other] = [...this.held].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      const before = Math.hypot(from.x - other.x, from.y - other.y);
      const after = Math.hypot(x - other.x, y - other.y);
      if (before > 0) this.zoom(after / before, (x + other.x) / 2, (y + other.y) / 2);
      this.pan((x - from.x) / 2, (y - from.y) / 2);
      return;
    }
    this.hover(-1);
    this.pan(x - from.x, y - from.y);
  }

  release(event) {
    const was = this.held.size;
    this.held.delete(event.pointerId);
    if (this.path) {
      const path = this.path;
      this.path = null;
      this.setLasso(false);
      if (path.length > 2) this.select(this.within(path));
      this.draw();
      return;
    }
    if (was !== 1 || this.traveled > 5) return;
    const id = this.pick(event.offsetX, event.offsetY, event.pointerType === "touch" ? 22 : 12);
    if (id >= 0) {
      this.hover(id);
      this.options.onPick?.(id, this.name(id));
    } else if (this.lit.length) {
      this.select([]);
    }
  }

  pressKey(event) {
    if (event.target !== this.element || event.ctrlKey || event.metaKey) return;
    if (this.lassoing) return this.pressLassoKey(event);
    const actions = {
      ArrowLeft: () => this.pan(60, 0), ArrowRight: () => this.pan(-60, 0), ArrowUp: () => this.pan(0, 60),
      ArrowDown: () => this.pan(0, -60), "+": () => this.zoom(1.3), "=": () => this.zoom(1.3), "-": () => this.zoom(1 / 1.3),
      0: () => this.fit(), Escape: () => this.select([]), l: () => this.setLasso(true, true),
      Enter: () => this.pickMiddle(),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  /** Picks the point nearest to the middle of the window: the keyboard's pointer. */
  pickMiddle() {
    const id = this.pick(this.width / 2, this.height / 2, 80);
    if (id < 0) return;
    this.hover(id);
    this.options.onPick?.(id, this.name(id));
  }

  // drawing

  resize() {
    this.ratio = Math.min(2, devicePixelRatio || 1);
    this.width = Math.max(1, this.element.clientWidth);
    this.height = Math.max(1, this.element.clientHeight);
    for (const canvas of [this.points, this.words]) {
      canvas.width = Math.round(this.width * this.ratio);
      canvas.height = Math.round(this.height * this.ratio);
    }
    this.gl.viewport(0, 0, this.points.width, this.points.height);
  }

  draw() {
    if (this.waiting || this.failed || !this.size) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const begin = performance.now();
      this.render();
      this.renderMs = performance.now() - begin;
      this.frames++;
    });
  }

  render() {
    if (!this.width) return;
    if (!this.densities && this.size > 1000) this.measureDensity();
    const { gl, uniforms } = this;
    const [wide, high] = this.scales();
    const shorter = Math.min(this.width, this.height);
    const pixels = (this.view.k * shorter) / 2; // per unit
    const count = this.countDrawn();
    const diameter = Math.min(14, this.options.pointSize * Math.max(1, (pixels / this.startScale()) ** 0.3));
    this.radius = diameter / 2;
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform3f(uniforms.mixing, ...this.mixing);
    gl.uniform1f(uniforms.gamma, this.gamma);
    gl.uniform1f(uniforms.unit, this.unit && this.squares ? 1 : 0);
    gl.uniform1f(uniforms.size, this.ratio * diameter);
    gl.uniform1f(uniforms.focus, this.lit.length || this.center >= 0 ? 1 : 0);
    gl.uniform1f(uniforms.row, this.field && this.field.kind !== "category" ? 1 : 0);
    gl.uniform1f(uniforms.overlap, this.densities ? (0.8 * diameter * diameter * count) / (pixels * pixels * this.size) : 0);
    gl.uniform2f(uniforms.middle, this.view.x, this.view.y);
    gl.uniform2f(uniforms.scale, wide, high);
    gl.drawArrays(gl.POINTS, 0, count);
    this.drawWords();
  }

  /** Pixels per unit when all points are shown: points grow from there. */
  startScale() {
    const { left, right, bottom, top } = this.bounds();
    return (0.92 * Math.min(this.width, this.height)) / Math.max(right - left, top - bottom, 1e-6);
  }

  drawWords() {
    const context = this.words.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.textBaseline = "middle";
    context.lineJoin = "round";
    const ink = this.dark ? ["#ffffff", "#d5d8dd", "rgb(19 20 22 / .82)"] : ["#000000", "#33312d", "rgb(255 255 255 / .85)"];
    this.drawArrows(context, ink);
    this.labels = []; // those that are shown
    const taken = new Map(); // cells of 48 × 24 pixels → boxes in them
    this.block(taken);
    for (const id of [this.center, this.echoed ?? -1]) if (id >= 0) this.drawRing(context, id);
    if (this.names && this.options.labels) {
      const first = this.center >= 0 ? [this.center, ...this.lit] : this.lit;
      let shown = 0;
      for (const id of first) if (this.drawLabel(context, id, true, taken, ink) && ++shown >= MOST_LABELS) break;
      if (!first.length) this.drawLabels(context, taken, ink);
      else if (first.length < MOST_LABELS) this.drawLabels(context, taken, this.dark ? ["", "#7d828a", ink[2]] : ["", "#9b978f", ink[2]]);
    }
    for (const tag of this.data.tags ?? []) this.drawTag(context, tag, ink);
    if (this.hovered >= 0) this.drawRing(context, this.hovered, 7, ink[0]);
    if (this.path?.length) {
      const path = this.cross ? this.closePath() : this.path;
      context.beginPath();
      path.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.closePath();
      context.fillStyle = "rgb(59 130 246 / .14)";
      context.strokeStyle = "#3b82f6";
      context.lineWidth = 1.5;
      context.fill();
      context.stroke();
    }
    if (this.cross) this.drawCross(context, ink);
  }

  drawCross(context, ink) {
    const [x, y] = this.cross;
    const lines = [[x - 14, y, x - 4, y], [x + 4, y, x + 14, y], [x, y - 14, x, y - 4], [x, y + 4, x, y + 14]];
    for (const [width, color] of [[5, ink[2]], [2, "#2563eb"]]) {
      context.beginPath();
      for (const [ax, ay, bx, by] of lines) (context.moveTo(ax, ay), context.lineTo(bx, by));
      context.lineWidth = width;
      context.strokeStyle = color;
      context.stroke();
    }
  }

  /** What words must not cover: buttons and boxes above the map and, where there are few, points and arrows. */
  block(taken) {
    const above = [this.tools, this.legend, this.selection].filter((one) => one.offsetParent && !one.hidden);
    this.covered = above.map((one) => [one.offsetLeft, one.offsetTop, one.offsetLeft + one.offsetWidth, one.offsetTop + one.offsetHeight]);
    const near = this.size <= FEW ? Array.from({ length: this.size }, (_, id) => id) : this.lit.slice(0, MOST_LABELS);
    this.dots = near.map((id) => [id, ...this.toPixel(id)]);
    this.lines = this.arrows.length <= FEW ? this.arrows.map(({ from, to }) => [...this.toPixel(from), ...this.toPixel(to)]) : [];
    const [ox, oy] = this.offset();
    for (const [left, top, right, bottom] of this.covered) this.take(taken, [left + ox, top + oy, right + ox, bottom + oy]);
  }

  /** Where the map is in the window. Cells follow the map, so that labels stay the same while it is moved. */
  offset() {
    const [wide, high] = this.scales();
    return [(this.view.x * wide * this.width) / 2, (-this.view.y * high * this.height) / 2];
  }

  cellsOf(box) {
    const keys = [];
    for (let column = Math.floor(box[0] / 48); column <= box[2] / 48; column++) {
      for (let row = Math.floor(box[1] / 24); row <= box[3] / 24; row++) keys.push(`${column},${row}`);
    }
    return keys;
  }

  take(taken, box) {
    for (const key of this.cellsOf(box)) taken.has(key) ? taken.get(key).push(box) : taken.set(key, [box]);
  }

  isFree(taken, box) {
    const meets = (other) => !(box[0] > other[2] || box[2] < other[0] || box[1] > other[3] || box[3] < other[1]);
    return !this.cellsOf(box).some((key) => taken.get(key)?.some(meets));
  }

  /** Points and arrows that a box covers, and points that are nearer to it than its own: a cost, for words that can stand elsewhere. */
  countCovered(id, box) {
    const [left, top, right, bottom] = box;
    const reach = this.radius - 1;
    const own = gapTo(...this.toPixel(id), box);
    let cost = 0;
    for (const [one, ox, oy] of this.dots) {
      if (one === id) continue;
      if (ox > left - reach && ox < right + reach && oy > top - reach && oy < bottom + reach) cost += 5;
      else if (gapTo(ox, oy, box) < own) cost += 3; // it would be read as the word of that point
    }
    for (const line of this.lines) if (crosses(line, left, top, right, bottom)) cost += 1;
    return cost + (left < 0 || right > this.width || top < 0 || bottom > this.height ? 20 : 0);
  }

  /** Words by rank, as many as fit without overlap. */
  drawLabels(context, taken, ink) {
    const [left, top] = this.fromPixel(0, 0);
    const [right, bottom] = this.fromPixel(this.width, this.height);
    const most = Math.min(MOST_LABELS, Math.ceil((this.width * this.height) / 5500));
    const { left: from, right: to, bottom: under, top: over } = this.bounds();
    const share = Math.min(1, Math.max(0, Math.min(right, to) - Math.max(left, from)) / (to - from || 1)) *
      Math.min(1, Math.max(0, Math.min(top, over) - Math.max(bottom, under)) / (over - under || 1));
    let shown = 0;
    let tried = 0;
    const marks = [];
    const draw = (id) => this.drawLabel(context, id, false, taken, ink) && ++shown >= most;
    const visit = (id) => (tried++, this.isMark(id) ? (marks.push(id), false) : draw(id));
    const visible = share < 0.25 ? this.inside(left, right, bottom, top) : []; // few points are visible: look them up
    if (share < 0.25 && visible.length < 20000) {
      for (const id of visible.sort((a, b) => a - b)) if (tried >= 6000 || visit(id)) break;
    } else {
      const places = this.locate();
      for (let id = 0; id < this.size && tried < 6000; id++) {
        const [x, y] = [places[2 * id], places[2 * id + 1]];
        if (x < left || x > right || y < bottom || y > top) continue;
        if (visit(id)) break;
      }
    }
    for (const id of marks) if (shown >= most || draw(id)) break; // where no word wants the place
  }

  /** Whether a word is punctuation: frequent, but no landmark of a map. */
  isMark(id) {
    this.marks ??= new Map();
    if (!this.marks.has(id)) this.marks.set(id, !/[\p{L}\p{N}]/u.test(this.names[id] ?? ""));
    return this.marks.get(id);
  }

  drawLabel(context, id, strong, taken, ink) {
    if (!strong && this.flags[id]) return false; // its word stands there already
    const [x, y] = this.toPixel(id);
    if (x < -this.radius || y < -8 || x > this.width + this.radius || y > this.height + 8) return false;
    const text = this.spell(this.names[id]);
    if (!text) return false;
    const size = strong ? 13.5 : id < 200 ? 14 : id < 2000 ? 12.5 : 11.5;
    const font = `${strong ? 600 : 450} ${size}px ${this.family()}`;
    if (context.font !== font) context.font = font;
    const width = strong ? context.measureText(text).width : (this.widths[id] ||= context.measureText(text).width);
    const [ox, oy] = this.offset();
    const places = this.size <= FEW || strong ? this.placesOf(id, x, y, width, size) : [this.place(id, x, y, width)];
    let best = null;
    for (const [left, middle, farther = 0] of places) {
      const box = [left, middle - size * 0.62, left + 6 + width, middle + size * 0.62];
      const own = [box[0] + ox, box[1] + oy, box[2] + ox, box[3] + oy];
      if (id !== this.center && !this.isFree(taken, own)) continue;
      const cost = farther + (places.length > 1 ? this.countCovered(id, box) : 0);
      if (!best || cost < best.cost) best = { cost, left, middle, box, own };
      if (!cost) break;
    }
    if (!best) return false;
    this.labels.push({ id, box: best.box });
    this.take(taken, best.own);
    if (places.length > 1 && gapTo(x, y, best.box) > this.radius + 8) this.drawLeader(context, x, y, best.box, ink[1]);
    context.textAlign = "left";
    this.write(context, text, best.left + 3, best.middle, strong ? ink[0] : ink[1], ink[2]);
    return true;
  }

  /** A thin line from a point to its word, which had to stand away from it. */
  drawLeader(context, x, y, [left, top, right, bottom], color) {
    const [ex, ey] = [Math.max(left, Math.min(x, right)), Math.max(top, Math.min(y, bottom))];
    const share = (this.radius + 2) / Math.hypot(ex - x, ey - y);
    context.beginPath();
    context.moveTo(x + share * (ex - x), y + share * (ey - y));
    context.lineTo(ex, ey);
    context.globalAlpha = 0.6;
    context.lineWidth = 1;
    context.strokeStyle = color;
    context.stroke();
    context.globalAlpha = 1;
  }

  /**
   * Where a word can stand, the best place first: as `place` says, after, before, above and below its point; where there
   * are few points also between these and a line farther, which costs half of an arrow that is covered.
   */
  placesOf(id, x, y, width, size) {
    const gap = id === this.center ? RING + 1 : this.radius + 1;
    const [after, before, centered] = [x + gap, x - gap - 6 - width, x - 3 - width / 2];
    const [above, below] = [y - gap - 0.7 * size, y + gap + 0.7 * size];
    const sides = [[after, y], [before, y], [centered, above], [centered, below], [after, above], [after, below], [before, above], [before, below]];
    const lines = this.size <= FEW ? [y - 0.55 * size, y + 0.55 * size, above - size, below + size] : [];
    const farther = lines.flatMap((middle, k) => [after, before, ...(k < 2 ? [] : [centered])].map((left) => [left, middle, 0.5]));
    return [...(this.lines.length ? [this.place(id, x, y, width)] : []), ...sides, ...farther];
  }

  /** Where a word starts, and its middle: after its point, at the edge before it, and not on the arrows of the point. */
  place(id, x, y, width) {
    let [across, down] = [0, 0];
    for (const { from, to } of this.arrows) {
      if (from !== id && to !== id) continue;
      const [ox, oy] = this.toPixel(from === id ? to : from);
      const length = Math.hypot(ox - x, oy - y) || 1;
      [across, down] = [across - (ox - x) / length, down - (oy - y) / length];
    }
    const above = Math.abs(down) > 0.4 * Math.hypot(across, down);
    if (above) {
      const tools = y < 190 ? 50 : 0; // the buttons stand in the upper corner
      const [first, last] = document.documentElement.dir === "rtl" ? [tools, 0] : [0, tools];
      return [Math.max(2 + first, Math.min(x - width / 2 - 3, this.width - width - 8 - last)), y + 15 * Math.sign(down)];
    }
    const gap = id === this.center ? RING + 1 : Math.max(3, this.radius + 1);
    const before = across < 0 ? x - gap - 6 - width > 0 : x + gap + 6 + width > this.width;
    return [before ? x - gap - 6 - width : x + gap, y];
  }

  write(context, text, x, y, color, halo) {
    context.lineWidth = 3;
    context.strokeStyle = halo;
    context.strokeText(text, x, y);
    context.fillStyle = color;
    context.fillText(text, x, y);
  }

  family() {
    return (this.fonts ??= getComputedStyle(this.element).fontFamily || "system-ui, sans-serif");
  }

  /** A word as the page shows words: with marks for its half spaces (ZWNJ) where the class `joiners` asks for them. */
  spell(text) {
    return document.body.classList.contains("joiners") ? text?.replaceAll("\u200c", "|\u200c") : text;
  }

  /** Draws the words again after their spelling has changed. */
  respell() {
    this.widths?.fill(0);
    this.draw();
  }

  drawTag(context, tag, ink) {
    const [x, y] = this.toPixel(tag.at);
    const text = this.spell(tag.text);
    context.font = `650 14px ${this.family()}`;
    context.textAlign = "center";
    const half = context.measureText(text).width / 2 + 6;
    const inside = x > 0 && x < this.width && 2 * half < this.width; // a visible tag is not cut off at the edge
    const [tools] = this.covered; // the buttons stand in an upper corner
    const beside = tools && y < tools[3] + 30;
    const first = beside && tools[0] < this.width / 2 ? tools[2] : 0;
    const last = beside && tools[0] > this.width / 2 ? tools[0] : this.width;
    const middle = inside ? Math.min(Math.max(x, first + half), last - half) : x;
    const level = this.findFreeLevel(middle - half, middle + half, y);
    this.labels.push({ id: tag.at, box: [middle - half, level - 9, middle + half, level + 9] });
    this.write(context, text, middle, level, this.tone(tag.tone), ink[2]);
  }

  /** A height near y where a tag from left to right covers neither words nor points, or as few as possible. */
  findFreeLevel(left, right, y) {
    const steps = [-18, 20, -34, 36, -50, 52, -66, 68, -82, 84, -98, 100];
    const tried = steps.map((step) => y + step).filter((level) => level > 10 && level < this.height - 10);
    const points = [];
    for (let id = 0; id < Math.min(this.size, FEW); id++) {
      const [px, py] = this.toPixel(id);
      points.push([px - 5, py - 5, px + 5, py + 5]);
    }
    const words = [...this.labels.map((label) => label.box), ...this.covered];
    const count = (level, boxes) => boxes.filter(([a, b, c, d]) => left < c && right > a && level - 10 < d && level + 10 > b).length;
    const cost = (level) => 5 * count(level, words) + count(level, points);
    let best = tried[0] ?? Math.max(y - 16, y > 0 ? 10 : y);
    for (const level of tried) if (cost(level) < cost(best)) best = level;
    return best;
  }

  drawRing(context, id, radius = RING, color = "#e5534b") {
    const [x, y] = this.toPixel(id);
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.lineWidth = 2;
    context.strokeStyle = color;
    context.stroke();
  }

  /** Arrows {from, to, tone, dashed} between points. */
  drawArrows(context, ink) {
    for (const arrow of this.arrows) {
      const [ax, ay] = this.toPixel(arrow.from);
      const [bx, by] = this.toPixel(arrow.to);
      const length = Math.hypot(bx - ax, by - ay);
      if (length < 6) continue;
      const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
      const [ex, ey] = [bx - 6 * ux, by - 6 * uy];
      context.strokeStyle = context.fillStyle = arrow.tone === undefined ? ink[1] : this.tone(arrow.tone);
      context.globalAlpha = arrow.dashed ? 0.7 : 0.85;
      context.lineWidth = 1.6;
      context.setLineDash(arrow.dashed ? [5, 4] : []);
      context.beginPath();
      context.moveTo(ax + 5 * ux, ay + 5 * uy);
      context.lineTo(ex, ey);
      context.stroke();
      context.setLineDash([]);
      context.beginPath();
      context.moveTo(bx - 4 * ux, by - 4 * uy);
      context.lineTo(bx - 12 * ux - 4.5 * uy, by - 12 * uy + 4.5 * ux);
      context.lineTo(bx - 12 * ux + 4.5 * uy, by - 12 * uy - 4.5 * ux);
      context.fill();
      context.globalAlpha = 1;
    }
  }

  /** Two plots that move together and show the same word. */
  static link(one, other) {
    one.partner = other;
    other.partner = one;
  }
}

/**
 * Sliders for the weights s₀, s₁, s₂ and γ of a plot, a button for each layer, and one for the second positions. All
 * happens in the browser.
 */
export class Mixer {
  constructor(element, plot, texts = {}) {
    this.plot = plot;
    this.texts = { ...TEXTS, ...texts };
    const buttons = make("div", { className: "mixer-layers" });
    const presets = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((mixing, layer) => [fill(this.texts.layer, { layer }), mixing]);
    for (const [name, mixing] of [...presets, [this.texts.equal, [1 / 3, 1 / 3, 1 / 3]]]) {
      buttons.append(make("button", { type: "button", textContent: name, onclick: () => this.set([...mixing, this.values()[3]]) }));
    }
    if (plot.data.second) {
      this.second = make("button", { type: "button", textContent: this.texts.second, onclick: () => this.showSecond() });
      buttons.prepend(this.second);
    }
    this.sliders = ["s₀", "s₁", "s₂", "γ"].map((name, k) => this.makeSlider(name, k < 3 ? 1 : 3));
    this.unit = make("input", { type: "checkbox", checked: plot.unit, onchange: () => this.apply() });
    const unit = make("label", { className: "unit" }, this.unit, this.texts.unit);
    element.classList.add("mixer");
    element.replaceChildren(buttons, ...this.sliders.map((slider) => slider.parentElement), unit);
    const starts = [...(plot.data.mixing ?? plot.mixing), plot.data.gamma ?? plot.gamma];
    this.sliders.forEach((slider, k) => (slider.value = starts[k]));
    if (plot.onSecond) this.label(starts);
    else this.apply(false, starts);
  }

  /** The plot leaves the layers; a slider or the button of a layer leads back. */
  showSecond() {
    this.plot.showSecond();
    this.label(this.values());
    this.tell(this.values());
  }

  /** Writes the weights beside the sliders, and marks the button of the second positions where they are shown. */
  label(values) {
    this.sliders.forEach((slider, k) => (slider.nextSibling.value = values[k].toFixed(2)));
    this.second?.setAttribute("aria-pressed", this.plot.onSecond);
  }

  makeSlider(name, most) {
    const slider = make("input", { type: "range", min: 0, max: most, step: 0.01, oninput: () => this.apply() });
    slider.setAttribute("aria-label", name);
    make("label", {}, make("span", { textContent: name }), slider, make("output"));
    return slider;
  }

  values() {
    return this.sliders.map((slider) => Number(slider.value));
  }

  set(values, tell = true) {
    this.sliders.forEach((slider, k) => (slider.value = values[k]));
    this.apply(tell, values);
  }

  apply(tell = true, values = this.values()) {
    this.plot.mix(values.slice(0, 3), values[3], this.unit.checked);
    this.label(values);
    if (tell) this.tell(values);
  }

  /** Reports the weights when the hand rests, for the address of the page. */
  tell(values) {
    clearTimeout(this.telling);
    const state = { mixing: values.slice(0, 3), gamma: values[3], unit: this.unit.checked, second: this.plot.onSecond };
    this.telling = setTimeout(() => this.onChange?.(state), 300);
  }
}
