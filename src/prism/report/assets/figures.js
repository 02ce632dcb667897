// Figures: panels with axes, zoom, legend and buttons, from the values that stand in the page.

const LETTER = 6.8; // mean width of a letter of a tick

function leftMargin(panels) {
  const words = panels.flatMap((panel) => ticks(panel.y, panel.span.y, panel.height / 28));
  const longest = Math.max(4, ...words.map(([, word]) => [...word].length));
  const names = panels.some((panel) => panel.y.name) ? 24 : 4;
  return clamp(names + 8 + LETTER * longest, 44, 150);
}

function drawPanel(figure, panel, width, left, last) {
  const top = panel.title ? 24 : 8;
  const turned = last && crowded(panel, width - left - 14);
  const bottom = last ? (turned ? turnedHeight(panel) : panel.x.name ? 38 : 24) : 8;
  const inner = { width: width - left - 14, height: panel.height };
  Object.assign(panel, { inner, left, top });
  panel.X = scale(panel.x, panel.span.x, 0, inner.width);
  panel.Y = scale(panel.y, panel.span.y, inner.height, 0);
  const root = panel.root;
  root.replaceChildren();
  root.setAttribute("viewBox", `0 0 ${width} ${top + inner.height + bottom}`);
  if (panel.title) svg(root, "text", { class: "name", x: left, y: 15 }, panel.title);
  const frame = svg(root, "g", { transform: `translate(${left} ${top})` });
  drawAxes(frame, panel, last, turned);
  const area = svg(frame, "svg", { ...inner, overflow: "hidden" });
  for (const mark of panel.marks) {
    if (!figure.hidden.has(mark.name)) DRAW[mark.kind](area, mark, panel.X, panel.Y, panel);
  }
  panel.guide = svg(area, "path", { class: "guide", d: "" });
  panel.box = svg(area, "rect", { class: "zoom", width: 0, height: 0 });
  svg(frame, "rect", { ...inner, class: "pad" });
}

const longestName = (axis) => Math.max(...axis.ticks.map(([, word]) => word.length));
const turnedHeight = (panel) => 16 + LETTER * longestName(panel.x);

function crowded(panel, room) {
  const words = panel.x.ticks.map(([, word]) => word.length);
  return words.length > 0 && LETTER * (Math.max(...words) + 1.5) * words.length > room;
}

const label = (frame, x, y, text) => svg(frame, "text", { class: "tick middle", x, y }, text);

function upright(frame, look, x, y, text) {
  return svg(frame, "text", { class: look, transform: `translate(${x} ${y}) rotate(-90)` }, text);
}

function drawAxes(frame, panel, last, turned) {
  const { inner, X, Y } = panel;
  for (const [v, word] of ticks(panel.y, panel.span.y, inner.height / 28)) {
    svg(frame, "path", { class: "grid", d: `M0 ${round(Y(v))}H${inner.width}` });
    svg(frame, "text", { class: "tick end", x: -7, y: Y(v) + 4 }, word);
  }
  for (const [v, word] of ticks(panel.x, panel.span.x, inner.width / (turned ? 14 : 70))) {
    svg(frame, "path", { class: "grid", d: `M${round(X(v))} 0V${inner.height}` });
    if (last && turned) upright(frame, "tick end", X(v) + 4, inner.height + 8, word);
    else if (last) label(frame, X(v), inner.height + 17, word);
  }
  svg(frame, "path", { class: "axis", d: `M0 0V${inner.height}H${inner.width}` });
  if (last && panel.x.name) label(frame, inner.width / 2, inner.height + 34, named(panel.x));
  if (!panel.y.name) return;
  const room = Math.floor((inner.height + 10) / 6.2);
  const whole = named(panel.y);
  const cut = `${panel.y.name.slice(0, room - 1)}…`;
  const text = [whole, panel.y.name].find((words) => words.length <= room) || cut;
  const node = upright(frame, "tick middle", 12 - panel.left, inner.height / 2, text);
  if (text !== whole) svg(node, "title", {}, whole);
}

function redraw(figure) {
  hush(figure);
  for (const { root, panels } of figure.stacks) {
    const width = Math.max(root.clientWidth, 220);
    const left = leftMargin(panels);
    panels.forEach((panel, k) => drawPanel(figure, panel, width, left, k === panels.length - 1));
  }
}

// -- zoom

function zoom(figure, panel, x, y) {
  const sane = (axis, span) => {
    if (!span) return false;
    const [low, high] = span.map((v) => flat(axis, v));
    return high - low > 1e-9 * (Math.abs(high) || 1);
  };
  for (const one of figure.linked ? figure.panels : [panel]) if (sane(one.x, x)) one.span.x = x;
  if (sane(panel.y, y)) panel.span.y = y;
  redraw(figure);
}

function reset(figure) {
  for (const panel of figure.panels) panel.span = { x: [...panel.x.span], y: [...panel.y.span] };
  redraw(figure);
}

// About the place that stays, a factor below one shows less.
function spread(axis, span, factor, at) {
  const [low, high] = span.map((v) => flat(axis, v));
  const fixed = at === undefined ? (low + high) / 2 : flat(axis, at);
  return [low, high].map((v) => unflat(axis, fixed + (v - fixed) * factor));
}

function step(figure, factor) {
  for (const panel of figure.panels) panel.span.x = spread(panel.x, panel.span.x, factor);
  redraw(figure);
}

function listen(figure, panel) {
  const fingers = new Map();
  let start = null;
  const root = panel.root;
  panel.place = (event) => {
    const box = root.getBoundingClientRect();
    const scale = root.viewBox.baseVal.width / box.width;
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    return [x * scale - panel.left, y * scale - panel.top];
  };
  const gap = () => Math.max(Math.abs([...fingers.values()][0] - [...fingers.values()][1]), 20);
  root.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch") fingers.set(event.pointerId, event.clientX);
    if (event.pointerType === "mouse" && event.button === 0) {
      start = panel.place(event);
      hush(figure);
      root.setPointerCapture(event.pointerId);
    } else tell(figure, panel, event);
  });
  root.addEventListener("pointermove", (event) => {
    if (fingers.size === 2 && fingers.has(event.pointerId)) {
      const before = gap();
      fingers.set(event.pointerId, event.clientX);
      const fixed = panel.X.back(panel.place(event)[0]);
      zoom(figure, panel, spread(panel.x, panel.span.x, before / gap(), fixed));
    } else if (start) frameBox(panel, start, panel.place(event));
    else tell(figure, panel, event);
  });
  const end = (event) => {
    fingers.delete(event.pointerId);
    if (!start) return;
    const [from, to] = [start, panel.place(event)];
    start = null;
    panel.box.setAttribute("width", 0);
    choose(figure, panel, from, to);
  };
  root.addEventListener("pointerup", end);
  root.addEventListener("pointercancel", (event) => {
    start = null;
    fingers.delete(event.pointerId);
  });
  root.addEventListener("pointerleave", () => hush(figure));
  root.addEventListener("dblclick", () => reset(figure));
}

// A flat box is a part of the x axis, a slim one of the y axis.
function corners(panel, from, to) {
  const { width, height } = panel.inner;
  const [x0, x1] = [from[0], to[0]].map((v) => clamp(v, 0, width)).sort((a, b) => a - b);
  const [y0, y1] = [from[1], to[1]].map((v) => clamp(v, 0, height)).sort((a, b) => a - b);
  return { x: x1 - x0 > 8 ? [x0, x1] : null, y: y1 - y0 > 24 ? [y0, y1] : null };
}

function frameBox(panel, from, to) {
  const { x, y } = corners(panel, from, to);
  const [x0, x1] = x || [0, panel.inner.width];
  const [y0, y1] = y || [0, panel.inner.height];
  const size = x || y ? { x: x0, y: y0, width: x1 - x0, height: y1 - y0 } : { width: 0 };
  for (const name in size) panel.box.setAttribute(name, size[name]);
}

function choose(figure, panel, from, to) {
  const { x, y } = corners(panel, from, to);
  if (x || y) zoom(figure, panel, x && x.map(panel.X.back), y && y.map(panel.Y.back).reverse());
}

// -- whole figures

function tools(figure, parent, zooms) {
  const button = (text, title, action) => {
    const node = html(parent, "button", "tool", text);
    node.type = "button";
    node.title = title;
    node.addEventListener("click", action);
  };
  for (const [name, span] of zooms) {
    button(name, `show the ${name}`, () => {
      reset(figure);
      zoom(figure, figure.panels[0], [...span]);
    });
  }
  button("+", "zoom in", () => step(figure, 0.5));
  button("−", "zoom out", () => step(figure, 2));
  button("reset", "show everything", () => reset(figure));
}

function legend(figure, parent) {
  const named = new Map();
  for (const mark of figure.panels.flatMap((panel) => panel.marks)) {
    if (mark.name && mark.kind !== "cells" && !named.has(mark.name)) named.set(mark.name, mark);
  }
  if (named.size < 2) return; // one kind of mark explains itself
  for (const mark of named.values()) {
    const entry = html(parent, "button", "entry");
    entry.type = "button";
    swatch(entry, mark);
    entry.append(mark.name);
    entry.setAttribute("aria-pressed", "true");
    entry.addEventListener("click", () => {
      const off = !figure.hidden.delete(mark.name);
      if (off) figure.hidden.add(mark.name);
      entry.setAttribute("aria-pressed", String(!off));
      redraw(figure);
    });
  }
}

const ARRAYS = ["x", "y", "low", "high", "at", "xError", "yError", "stem"];

function unpack(panel) {
  const marks = panel.marks.map((mark) => {
    const full = { ...mark };
    for (const key of ARRAYS) if (key in mark) full[key] = decode(mark[key]);
    return full;
  });
  return { ...panel, marks, span: { x: [...panel.x.span], y: [...panel.y.span] } };
}

function build(root) {
  const data = JSON.parse(document.getElementById(root.dataset.values).textContent);
  const panels = data.panels.map(unpack);
  const figure = { root, panels, linked: data.linked, hidden: new Set(), stacks: [] };
  const head = html(root, "div", "head");
  legend(figure, html(head, "div", "legend"));
  tools(figure, html(head, "div", "tools"), data.zooms);
  const grid = html(root, "div", `grid columns${data.columns}`);
  for (let k = 0; k < figure.panels.length; k += data.stack) {
    const stack = { root: html(grid, "div", "stack"), panels: panels.slice(k, k + data.stack) };
    for (const panel of stack.panels) {
      const name = `${root.dataset.name} ${panel.title || panel.y.name}`;
      panel.root = svg(stack.root, "svg", { class: "panel", role: "img", "aria-label": name });
      listen(figure, panel);
    }
    figure.stacks.push(stack);
  }
  figure.tip = html(root, "div", "tip");
  figure.tip.hidden = true;
  root.figure = figure;
  if (data.zooms.length) zoom(figure, figure.panels[0], [...data.zooms[data.first][1]]);
  else redraw(figure);
  let width = root.clientWidth;
  new ResizeObserver(() => {
    if (root.clientWidth !== width) {
      width = root.clientWidth;
      redraw(figure);
    }
  }).observe(root);
}
