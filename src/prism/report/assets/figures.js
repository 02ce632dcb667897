// Figures that can be zoomed and read off: drawn as svg from the values that stand in the page.
// Words of a user only ever become text nodes; colours are style-sheet variables of the page.
"use strict";
(() => {
  const SPACE = "http://www.w3.org/2000/svg"; // the name of the svg language, never fetched
  const NEAR = 18; // pixels from the pointer to a point that it names
  const SUPER = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

  const round = (v) => v.toFixed(1);
  const clamp = (v, low, high) => Math.min(Math.max(v, low), high);
  const power = (n) => "10" + [...String(n)].map((c) => SUPER[c]).join("");

  function svg(parent, tag, attributes, text) {
    const node = document.createElementNS(SPACE, tag);
    for (const name in attributes) node.setAttribute(name, attributes[name]);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  }

  function html(parent, tag, name, text) {
    const node = document.createElement(tag);
    node.className = name;
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  }

  // Long arrays are base64 of little-endian floats, short ones plain lists.
  function decode(packed) {
    if (packed === null || packed === undefined) return null;
    if (Array.isArray(packed)) return Float64Array.from(packed, (v) => (v === null ? NaN : v));
    const bytes = Uint8Array.from(atob(packed.data), (c) => c.charCodeAt(0));
    const Kind = packed.kind === "f4" ? Float32Array : Float64Array;
    return new Kind(bytes.buffer);
  }

  function number(v) {
    if (!Number.isFinite(v)) return "–";
    if (v === 0) return "0";
    const size = Math.abs(v);
    if (size < 1e5 && size >= 1e-3) return String(+v.toPrecision(5)).replace("-", "−");
    const [digits, exponent] = v.toExponential(3).split("e");
    return `${String(+digits).replace("-", "−")}×${power(+exponent)}`;
  }

  // ---------------------------------------------------------------- scales and ticks

  const flat = (axis, v) => (axis.log ? Math.log10(v) : v);
  const unflat = (axis, v) => (axis.log ? 10 ** v : v);

  function scale(axis, span, from, to) {
    const low = flat(axis, span[0]);
    const high = flat(axis, span[1]);
    const per = (to - from) / (high - low);
    const at = (v) => clamp(from + (flat(axis, v) - low) * per, -1e5, 1e5);
    at.back = (pixel) => unflat(axis, low + (pixel - from) / per);
    return at;
  }

  function ticks(axis, span, room) {
    if (axis.ticks.length) return named(axis, span, room);
    return axis.log ? decades(span, room) : steps(span, room);
  }

  function named(axis, span, room) {
    const inside = axis.ticks.filter(([v]) => v >= span[0] && v <= span[1]);
    const every = Math.ceil(inside.length / Math.max(room, 1));
    return inside.filter((_, k) => k % every === 0);
  }

  function steps([low, high], room) {
    const rough = (high - low) / Math.max(room, 2);
    const ten = 10 ** Math.floor(Math.log10(rough));
    const step = ten * ([1, 2, 5].find((m) => m * ten >= rough) || 10);
    const found = [];
    for (let k = Math.ceil(low / step); k * step <= high * (1 + 1e-12) && found.length < 40; k++) {
      found.push([k * step, number(+(k * step).toPrecision(12))]);
    }
    return found;
  }

  function decades([low, high], room) {
    const first = Math.ceil(Math.log10(low) - 1e-9);
    const last = Math.floor(Math.log10(high) + 1e-9);
    if (last - first < 1) return steps([low, high], Math.min(room, 4));
    const every = Math.max(1, Math.ceil((last - first + 1) / Math.max(room, 2)));
    const found = [];
    for (let n = first; n <= last; n += every) found.push([10 ** n, n >= -2 && n <= 3 ? String(+(10 ** n).toPrecision(1)) : power(n)]);
    return found;
  }

  // ---------------------------------------------------------------- marks

  function lower(x, v) {
    let [from, to] = [0, x.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (x[middle] < v) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  function nearest(x, v) {
    const k = lower(x, v);
    return k > 0 && (k === x.length || v - x[k - 1] < x[k] - v) ? k - 1 : k;
  }

  function path(x, y, X, Y, [from, to]) {
    let text = "";
    let pen = false;
    for (let k = from; k < to; k++) {
      const down = Number.isFinite(y[k]);
      if (down) text += `${pen ? "L" : "M"}${round(X(x[k]))} ${round(Y(y[k]))}`;
      pen = down;
    }
    return text;
  }

  const visible = (x, span) => [Math.max(lower(x, span[0]) - 1, 0), Math.min(lower(x, span[1]) + 2, x.length)];

  const circle = (x, y, s) => `M${round(x - s)} ${round(y)}a${s} ${s} 0 1 0 ${2 * s} 0a${s} ${s} 0 1 0 ${-2 * s} 0`;
  const SHAPES = {
    dot: circle,
    disc: circle,
    ring: circle,
    cross: (x, y, s) => `M${round(x - s)} ${round(y - s)}l${2 * s} ${2 * s}m0 ${-2 * s}l${-2 * s} ${2 * s}`,
    triangle: (x, y, s) => `M${round(x)} ${round(y)}l${-s} ${-1.8 * s}h${2 * s}Z`,
  };
  const SIZES = { dot: 1.3, disc: 4, ring: 4.5, cross: 4.5, triangle: 4 };

  const DRAW = {
    line(area, mark, X, Y, panel) {
      const part = visible(mark.x, panel.span.x);
      const look = `line ${mark.colour} dash${mark.dash}${mark.faint ? " faint" : ""}`;
      svg(area, "path", { class: look, d: path(mark.x, mark.y, X, Y, part) });
    },
    band(area, mark, X, Y, panel) {
      const [from, to] = visible(mark.x, panel.span.x);
      let there = "";
      let back = "";
      for (let k = from; k < to; k++) {
        if (!Number.isFinite(mark.low[k] + mark.high[k])) continue;
        there += `${there ? "L" : "M"}${round(X(mark.x[k]))} ${round(Y(mark.high[k]))}`;
        back = `L${round(X(mark.x[k]))} ${round(Y(mark.low[k]))}${back}`;
      }
      if (there) svg(area, "path", { class: `band ${mark.colour}`, "fill-opacity": mark.opacity, d: `${there}${back}Z` });
    },
    dots(area, mark, X, Y) {
      const [shape, size] = [SHAPES[mark.marker], SIZES[mark.marker]];
      let points = "";
      let bars = "";
      for (let k = 0; k < mark.x.length; k++) {
        const [x, y] = [X(mark.x[k]), Y(mark.y[k])];
        if (!Number.isFinite(x + y)) continue;
        points += shape(x, y, size);
        if (mark.stem) bars += `M${round(x)} ${round(Y(mark.stem[k]))}V${round(y)}`;
        if (mark.yError) bars += `M${round(x)} ${round(Y(mark.y[k] - mark.yError[k]))}V${round(Y(mark.y[k] + mark.yError[k]))}`;
        if (mark.xError) bars += `M${round(X(mark.x[k] - mark.xError[k]))} ${round(y)}H${round(X(mark.x[k] + mark.xError[k]))}`;
      }
      if (bars) svg(area, "path", { class: `line ${mark.colour}`, d: bars });
      svg(area, "path", { class: `marker ${mark.marker} ${mark.colour}`, d: points });
    },
    rule(area, mark, X, Y, panel) {
      let text = "";
      for (const v of mark.at) {
        text += mark.upright ? `M${round(X(v))} 0V${panel.inner.height}` : `M0 ${round(Y(v))}H${panel.inner.width}`;
      }
      svg(area, "path", { class: `line rule ${mark.colour} dash${mark.dash}`, d: text });
    },
    cells(area, mark, X, Y) {
      mark.values.forEach((row, r) => {
        row.forEach((v, c) => {
          const [x, y] = [X(c - 0.5), Y(r + 0.5)];
          const look = { x, y, width: X(c + 0.5) - x + 0.3, height: Y(r - 0.5) - y + 0.3 };
          svg(area, "rect", { ...look, class: v < 0 ? "band orange" : "band blue", "fill-opacity": Math.min(Math.abs(v), 1) });
        });
      });
    },
  };

  // ---------------------------------------------------------------- what is under the pointer

  function said(figure, panel, px, py) {
    const { X, Y } = panel;
    const rows = [];
    let note = null;
    let best = NEAR;
    let at = X.back(px);
    for (const mark of panel.marks) {
      if (figure.hidden.has(mark.name)) continue;
      if (mark.kind === "cells") {
        const [r, c] = [Math.round(Y.back(py)), Math.round(at)];
        if (mark.values[r] && mark.values[r][c] !== undefined) return { note: `${label(panel.y, r)}: ${label(panel.x, c)} ${number(mark.values[r][c])}` };
      } else if (mark.notes && mark.notes.length) {
        const points = mark.kind === "rule" ? mark.at : mark.x;
        for (let k = 0; k < points.length; k++) {
          const away = mark.kind === "rule" ? 3 * Math.abs(X(points[k]) - px) : Math.hypot(X(points[k]) - px, Y(mark.y[k]) - py);
          if (away < best) [best, note] = [away, mark.notes[k]];
        }
      } else if (mark.x && mark.x.length) {
        const k = nearest(mark.x, at);
        if (Math.abs(X(mark.x[k]) - px) > 2 * NEAR) continue;
        const value = mark.low ? `${number(mark.low[k])} to ${number(mark.high[k])}` : number(mark.y[k]);
        rows.push({ mark, value, x: mark.x[k] });
      }
    }
    return { note, rows, at: rows.length ? rows[rows.length - 1].x : at };
  }

  const label = (axis, v) => (axis.ticks.find(([at]) => at === v) || ["", String(v)])[1];
  const quantity = (axis, text) => (axis.unit ? `${text} ${axis.unit}` : text);

  function tell(figure, panel, event) {
    const [px, py] = panel.place(event);
    if (px < 0 || py < 0 || px > panel.inner.width || py > panel.inner.height) return hush(figure);
    const { note, rows, at } = said(figure, panel, px, py);
    hush(figure);
    if (!note && !(rows && rows.length)) return;
    const tip = figure.tip;
    tip.replaceChildren();
    if (note) html(tip, "b", "", note);
    if (rows && rows.length) {
      const digits = Math.max(0, 2 - Math.floor(Math.log10((panel.span.x[1] - panel.span.x[0]) / 100)));
      const where = Number(at.toFixed(Math.min(digits, 12)));
      html(tip, "b", "", `${panel.x.name} = ${quantity(panel.x, String(where).replace("-", "−"))}`);
      html(tip, "span", "of", panel.y.unit ? `${panel.y.name} (${panel.y.unit})` : panel.y.name);
      for (const { mark, value } of rows) {
        const row = html(tip, "span", "row");
        swatch(row, mark);
        row.append(` ${mark.name}: ${value}`);
      }
      panel.guide.setAttribute("d", `M${round(panel.X(at))} 0V${panel.inner.height}`);
    }
    tip.hidden = false;
    put(figure, event);
  }

  function put(figure, event) {
    const box = figure.root.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const wide = figure.tip.offsetWidth;
    const left = x + 16 + wide < box.width ? x + 16 : x - 16 - wide;
    figure.tip.style.left = `${clamp(left, 0, Math.max(box.width - wide, 0))}px`;
    figure.tip.style.top = `${Math.max(y - figure.tip.offsetHeight - 10, 0)}px`;
  }

  function hush(figure) {
    figure.tip.hidden = true;
    for (const panel of figure.panels) if (panel.guide) panel.guide.setAttribute("d", "");
  }

  // ---------------------------------------------------------------- panels

  function swatch(parent, mark) {
    const box = svg(parent, "svg", { class: "swatch", viewBox: "0 0 22 12", "aria-hidden": "true" });
    if (mark.kind === "band") svg(box, "path", { class: `band ${mark.colour}`, "fill-opacity": mark.opacity, d: "M1 1H21V11H1Z" });
    else if (mark.kind === "dots") {
      const size = Math.max(SIZES[mark.marker], 2);
      const d = SHAPES[mark.marker](11, mark.marker === "triangle" ? 10 : 6, size);
      svg(box, "path", { class: `marker ${mark.marker} ${mark.colour}`, d });
    } else svg(box, "path", { class: `line ${mark.colour} dash${mark.dash}${mark.faint ? " faint" : ""}`, d: "M1 6H21" });
  }

  const LETTER = 6.4; // mean width of a letter of a tick

  function leftMargin(panels) {
    const widths = panels.map((panel) => Math.max(4, ...ticks(panel.y, panel.span.y, panel.height / 32).map(([, word]) => [...word].length)));
    const names = panels.some((panel) => panel.y.name) ? 20 : 4;
    return clamp(names + 8 + LETTER * Math.max(...widths), 44, 150);
  }

  function drawPanel(figure, panel, width, left, last) {
    const top = panel.title ? 24 : 8;
    const turned = last && crowded(panel, width - left - 14);
    const bottom = last ? (turned ? 66 : panel.x.name ? 38 : 24) : 8;
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
    for (const mark of panel.marks) if (!figure.hidden.has(mark.name)) DRAW[mark.kind](area, mark, panel.X, panel.Y, panel);
    panel.guide = svg(area, "path", { class: "guide", d: "" });
    panel.box = svg(area, "rect", { class: "zoom", width: 0, height: 0 });
    svg(frame, "rect", { ...inner, class: "pad" });
  }

  function crowded(panel, room) {
    const words = panel.x.ticks.map(([, word]) => word.length);
    return words.length > 0 && LETTER * (Math.max(...words) + 1.5) * words.length > room;
  }

  function drawAxes(frame, panel, last, turned) {
    const { inner, X, Y } = panel;
    for (const [v, word] of ticks(panel.y, panel.span.y, inner.height / 32)) {
      svg(frame, "path", { class: "grid", d: `M0 ${round(Y(v))}H${inner.width}` });
      svg(frame, "text", { class: "tick end", x: -7, y: Y(v) + 4 }, word);
    }
    for (const [v, word] of ticks(panel.x, panel.span.x, turned ? inner.width / 14 : inner.width / 70)) {
      svg(frame, "path", { class: "grid", d: `M${round(X(v))} 0V${inner.height}` });
      if (last && turned) svg(frame, "text", { class: "tick end", transform: `translate(${X(v) + 4} ${inner.height + 8}) rotate(-90)` }, word);
      else if (last) svg(frame, "text", { class: "tick middle", x: X(v), y: inner.height + 17 }, word);
    }
    svg(frame, "path", { class: "axis", d: `M0 0V${inner.height}H${inner.width}` });
    if (last && panel.x.name) svg(frame, "text", { class: "tick middle", x: inner.width / 2, y: inner.height + 34 }, panel.x.unit ? `${panel.x.name} (${panel.x.unit})` : panel.x.name);
    if (!panel.y.name) return;
    const room = Math.floor((inner.height + 10) / 6.2);
    const whole = panel.y.unit ? `${panel.y.name} (${panel.y.unit})` : panel.y.name;
    const text = whole.length <= room ? whole : panel.y.name.length <= room ? panel.y.name : `${panel.y.name.slice(0, room - 1)}…`;
    const node = svg(frame, "text", { class: "tick middle", transform: `translate(${12 - panel.left} ${inner.height / 2}) rotate(-90)` }, text);
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

  // ---------------------------------------------------------------- zoom

  function zoom(figure, panel, x, y) {
    const sane = (axis, span) => span && flat(axis, span[1]) - flat(axis, span[0]) > 1e-9 * (Math.abs(flat(axis, span[1])) || 1);
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
      return [(event.clientX - box.left) * scale - panel.left, (event.clientY - box.top) * scale - panel.top];
    };
    const gap = () => Math.max(Math.abs([...fingers.values()][0] - [...fingers.values()][1]), 20);
    root.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch") fingers.set(event.pointerId, event.clientX);
      if (event.pointerType === "mouse" && event.button === 0) {
        start = panel.place(event);
        root.setPointerCapture(event.pointerId);
      } else tell(figure, panel, event);
    });
    root.addEventListener("pointermove", (event) => {
      if (fingers.size === 2 && fingers.has(event.pointerId)) {
        const before = gap();
        fingers.set(event.pointerId, event.clientX);
        zoom(figure, panel, spread(panel.x, panel.span.x, before / gap(), panel.X.back(panel.place(event)[0])));
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
    root.addEventListener("pointercancel", (event) => { start = null; fingers.delete(event.pointerId); });
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

  // ---------------------------------------------------------------- figures

  function tools(figure, parent, zooms) {
    const button = (text, title, action) => {
      const node = html(parent, "button", "tool", text);
      node.type = "button";
      node.title = title;
      node.addEventListener("click", action);
    };
    for (const [name, span] of zooms) button(name, `show the ${name}`, () => { reset(figure); zoom(figure, figure.panels[0], [...span]); });
    button("+", "zoom in", () => step(figure, 0.5));
    button("−", "zoom out", () => step(figure, 2));
    button("reset", "show everything", () => reset(figure));
  }

  function legend(figure, parent) {
    const seen = new Set();
    for (const mark of figure.panels.flatMap((panel) => panel.marks)) {
      if (!mark.name || mark.kind === "cells" || seen.has(mark.name)) continue;
      seen.add(mark.name);
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

  function unpack(panel) {
    const marks = panel.marks.map((mark) => {
      const full = { ...mark };
      for (const key of ["x", "y", "low", "high", "at", "xError", "yError", "stem"]) if (key in mark) full[key] = decode(mark[key]);
      return full;
    });
    return { ...panel, marks, span: { x: [...panel.x.span], y: [...panel.y.span] } };
  }

  function build(root) {
    const data = JSON.parse(document.getElementById(root.dataset.values).textContent);
    const figure = { root, linked: data.linked, hidden: new Set(), panels: data.panels.map(unpack), stacks: [] };
    const head = html(root, "div", "head");
    legend(figure, html(head, "div", "legend"));
    tools(figure, html(head, "div", "tools"), data.zooms);
    const grid = html(root, "div", `grid columns${data.columns}`);
    for (let k = 0; k < figure.panels.length; k += data.stack) {
      const stack = { root: html(grid, "div", "stack"), panels: figure.panels.slice(k, k + data.stack) };
      for (const panel of stack.panels) {
        panel.root = svg(stack.root, "svg", { class: "panel", role: "img", "aria-label": `${root.dataset.name} ${panel.title || panel.y.name}` });
        listen(figure, panel);
      }
      figure.stacks.push(stack);
    }
    figure.tip = html(root, "div", "tip");
    figure.tip.hidden = true;
    root.figure = figure;
    redraw(figure);
    let width = root.clientWidth;
    new ResizeObserver(() => {
      if (root.clientWidth !== width) {
        width = root.clientWidth;
        redraw(figure);
      }
    }).observe(root);
  }

  // ---------------------------------------------------------------- tables

  async function copy(button) {
    try {
      await navigator.clipboard.writeText(button.dataset.tsv);
    } catch {
      const area = html(document.body, "textarea", "away");
      area.value = button.dataset.tsv;
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    const word = button.textContent;
    button.textContent = "copied";
    setTimeout(() => { button.textContent = word; }, 1500);
  }

  for (const root of document.querySelectorAll(".plot")) build(root);
  for (const button of document.querySelectorAll("button.copy")) button.addEventListener("click", () => copy(button));
  document.documentElement.dataset.drawn = "yes";
})();
