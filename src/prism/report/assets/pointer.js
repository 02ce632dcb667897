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
      const row = mark.values[r];
      const names = `${tickAt(panel.y, r)}: ${tickAt(panel.x, c)}`;
      if (row && row[c] !== undefined) return { note: `${names} ${number(row[c])}` };
    } else if (mark.notes && mark.notes.length) {
      const points = mark.kind === "rule" ? mark.at : mark.x;
      for (let k = 0; k < points.length; k++) {
        const aside = X(points[k]) - px;
        const away = mark.kind === "rule" ? 3 * Math.abs(aside) : Math.hypot(aside, Y(mark.y[k]) - py);
        if (away < best) [best, note] = [away, mark.notes[k]];
      }
    } else if (mark.x && mark.x.length) {
      const k = nearest(mark.x, at);
      if (Math.abs(X(mark.x[k]) - px) > 2 * NEAR) continue;
      const ends = mark.low ? [mark.low[k], mark.high[k]] : [mark.y[k]];
      rows.push({ mark, value: ends.map(number).join(" to "), x: mark.x[k] });
    }
  }
  return { note, rows, at: rows.length ? rows[rows.length - 1].x : at };
}

const tickAt = (axis, v) => (axis.ticks.find(([at]) => at === v) || ["", String(v)])[1];
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
    const wide = panel.span.x[1] - panel.span.x[0];
    const digits = Math.max(0, 4 - Math.floor(Math.log10(wide)));
    const where = Number(at.toFixed(Math.min(digits, 12)));
    html(tip, "b", "", `${panel.x.name} = ${quantity(panel.x, String(where).replace("-", "−"))}`);
    html(tip, "span", "of", named(panel.y));
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
