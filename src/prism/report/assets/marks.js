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

// The points inside a range, and one more on either side.
function visible(x, [low, high]) {
  return [Math.max(lower(x, low) - 1, 0), Math.min(lower(x, high) + 2, x.length)];
}

function circle(x, y, s) {
  const half = (width) => `a${s} ${s} 0 1 0 ${width} 0`;
  return `M${round(x - s)} ${round(y)}${half(2 * s)}${half(-2 * s)}`;
}

function cross(x, y, s) {
  const wide = 2 * s;
  return `M${round(x - s)} ${round(y - s)}l${wide} ${wide}m0 ${-wide}l${-wide} ${wide}`;
}

const SHAPES = {
  dot: circle,
  disc: circle,
  ring: circle,
  cross,
  triangle: (x, y, s) => `M${round(x)} ${round(y)}l${-s} ${-1.8 * s}h${2 * s}Z`,
};
const FAINT = 0.05; // a smaller value of a cell has no sign to speak of
const SIZES = { dot: 1.3, disc: 4, ring: 4.5, cross: 4.5, triangle: 4 };

const DRAW = {
  line(area, mark, X, Y, panel) {
    const part = visible(mark.x, panel.span.x);
    svg(area, "path", { class: lineLook(mark), d: path(mark.x, mark.y, X, Y, part) });
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
      const [dx, dy] = [mark.xError, mark.yError].map((errors) => (errors ? errors[k] : NaN));
      const [left, right] = [X(mark.x[k] - dx), X(mark.x[k] + dx)];
      const [below, above] = [Y(mark.y[k] - dy), Y(mark.y[k] + dy)];
      if (Number.isFinite(dy)) bars += `M${round(x)} ${round(below)}V${round(above)}`;
      if (Number.isFinite(dx)) bars += `M${round(left)} ${round(y)}H${round(right)}`;
    }
    if (bars) svg(area, "path", { class: `line ${mark.colour}`, d: bars });
    svg(area, "path", { class: `marker ${mark.marker} ${mark.colour}`, d: points });
  },
  rule(area, mark, X, Y, panel) {
    let text = "";
    for (const v of mark.at) {
      if (mark.upright) text += `M${round(X(v))} 0V${panel.inner.height}`;
      else text += `M0 ${round(Y(v))}H${panel.inner.width}`;
    }
    svg(area, "path", { class: `line rule ${mark.colour} dash${mark.dash}`, d: text });
  },
  cells(area, mark, X, Y) {
    let minus = "";
    mark.values.forEach((row, r) => {
      row.forEach((v, c) => {
        const [x, y] = [X(c - 0.5), Y(r + 0.5)];
        const box = { x, y, width: X(c + 0.5) - x + 0.3, height: Y(r - 0.5) - y + 0.3 };
        const look = v < 0 ? "band orange" : "band blue";
        svg(area, "rect", { ...box, class: look, "fill-opacity": Math.min(Math.abs(v), 1) });
        if (v > -FAINT) return; // a stroke says the sign without colour
        const [middle, half] = [y + box.height / 2, Math.min(box.width, box.height) / 4];
        minus += `M${round(x + box.width / 2 - half)} ${round(middle)}h${round(2 * half)}`;
      });
    });
    svg(area, "path", { class: "minus", d: minus });
  },
};

const lineLook = (mark) => `line ${mark.colour} dash${mark.dash}${mark.faint ? " faint" : ""}`;

function swatch(parent, mark) {
  const box = svg(parent, "svg", { class: "swatch", viewBox: "0 0 22 12", "aria-hidden": "true" });
  if (mark.kind === "band") {
    const look = { class: `band ${mark.colour}`, "fill-opacity": mark.opacity };
    svg(box, "path", { ...look, d: "M1 1H21V11H1Z" });
  } else if (mark.kind === "dots") {
    const size = Math.max(SIZES[mark.marker], 2);
    const d = SHAPES[mark.marker](11, mark.marker === "triangle" ? 10 : 6, size);
    svg(box, "path", { class: `marker ${mark.marker} ${mark.colour}`, d });
  } else svg(box, "path", { class: lineLook(mark), d: "M1 6H21" });
}
