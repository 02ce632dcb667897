// Numbers: how they are unpacked, written, and laid out along an axis.

const SPACE = "http://www.w3.org/2000/svg"; // the name of the svg language, never fetched
const NEAR = 18; // pixels from the pointer to a point that it names
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

const round = (v) => v.toFixed(1);
const clamp = (v, low, high) => Math.min(Math.max(v, low), high);
const power = (n) => "10" + [...String(n)].map((c) => RAISED[c] || "⁻").join("");

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
  if (axis.ticks.length) return places(axis, span, room);
  return axis.log ? decades(span, room) : steps(span, room);
}

function places(axis, span, room) {
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
  for (let n = first; n <= last; n += every) {
    const short = n >= -2 && n <= 3;
    found.push([10 ** n, short ? String(+(10 ** n).toPrecision(1)) : power(n)]);
  }
  return found;
}

const named = (axis) => (axis.unit ? `${axis.name} (${axis.unit})` : axis.name);
