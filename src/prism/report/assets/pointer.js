// What is under the pointer, in words. Words of a user only ever become text nodes.

function said(figure, panel, px, py) {
  const { X, Y } = panel;
  const rows = [];
  let note = null;
  let best = NEAR;
  let at = X.back(px);
  for (const mark of panel.marks) {
    if (!mark.name || figure.hidden.has(mark.name)) continue;
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
