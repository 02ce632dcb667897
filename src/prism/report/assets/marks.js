// Marks: lines, bands, points, rules and cells as svg.

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
    const height = Y(y[k]);
    const down = Number.isFinite(height);
    if (down) text += `${pen ? "L" : "M"}${round(X(x[k]))} ${round(height)}`;
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
    let [text, there, back] = ["", "", ""];
    for (let k = from; k <= to; k++) {
      const inside = k < to && Number.isFinite(mark.low[k] + mark.high[k]);
      if (inside) {
        there += `${there ? "L" : "M"}${round(X(mark.x[k]))} ${round(Y(mark.high[k]))}`;
        back = `L${round(X(mark.x[k]))} ${round(Y(mark.low[k]))}${back}`;
      } else if (there) {
        text += `${there}${back}Z`;
        [there, back] = ["", ""];
      }
    }
    svg(area, "path", { class: `band ${mark.colour}`, "fill-opacity": mark.opacity, d: text });
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
      if (mark.yError && Number.isFinite(mark.yError[k])) bars += `M${round(x)} ${round(Y(mark.y[k] - mark.yError[k]))}V${round(Y(mark.y[k] + mark.yError[k]))}`;
      if (mark.xError && Number.isFinite(mark.xError[k])) bars += `M${round(X(mark.x[k] - mark.xError[k]))} ${round(y)}H${round(X(mark.x[k] + mark.xError[k]))}`;
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

function swatch(parent, mark) {
  const box = svg(parent, "svg", { class: "swatch", viewBox: "0 0 22 12", "aria-hidden": "true" });
  if (mark.kind === "band") svg(box, "path", { class: `band ${mark.colour}`, "fill-opacity": mark.opacity, d: "M1 1H21V11H1Z" });
  else if (mark.kind === "dots") {
    const size = Math.max(SIZES[mark.marker], 2);
    const d = SHAPES[mark.marker](11, mark.marker === "triangle" ? 10 : 6, size);
    svg(box, "path", { class: `marker ${mark.marker} ${mark.colour}`, d });
  } else svg(box, "path", { class: `line ${mark.colour} dash${mark.dash}${mark.faint ? " faint" : ""}`, d: "M1 6H21" });
}
