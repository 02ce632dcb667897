// The structure, moving in one of its modes, and seen from any side.

const PERIOD = 2400; // milliseconds of a period, whatever its frequency
const WAY = 48; // points of the way of a node in a mode that turns
const HEAVY = 40000; // lines of all small pictures, beyond which modes are chosen by name alone
const MOST_RINGS = 400; // nodes at rest that are marked: of a fine mesh rings would hide it
const SIDES = { oblique: [-60, 22], x: [0, 0], y: [-90, 0], z: [-90, 90] };

// Unit vectors to the right and upwards.
function eyeAxes([azimuth, elevation]) {
  const [a, e] = [azimuth, elevation].map((degrees) => (degrees * Math.PI) / 180);
  const up = [-Math.sin(e) * Math.cos(a), -Math.sin(e) * Math.sin(a), Math.cos(e)];
  return [[-Math.sin(a), Math.cos(a), 0], up];
}

const along = (axis, v, k) => axis[0] * v[k] + axis[1] * v[k + 1] + axis[2] * v[k + 2];

// Places in the picture: at rest, and how far the two parts of the motion go.
function lookAt(scene, mode) {
  const axes = eyeAxes(scene.eye);
  const flat = (v, k) => (v ? axes.map((axis) => along(axis, v, 3 * k)) : [0, 0]);
  const rest = scene.nodes.map((_, k) => flat(scene.positions, k));
  const parts = scene.seen.map((_, k) => [flat(mode.real, k), flat(mode.imaginary, k)]);
  return { axes, rest, parts };
}

function frameOf(scene) {
  const [low, high] = [[Infinity, Infinity], [-Infinity, -Infinity]];
  const take = (at, reach) => {
    for (const d of [0, 1]) {
      low[d] = Math.min(low[d], at[d] - reach[d]);
      high[d] = Math.max(high[d], at[d] + reach[d]);
    }
  };
  for (const mode of scene.modes) {
    const { rest, parts } = lookAt(scene, mode);
    rest.forEach((at) => take(at, [0, 0]));
    parts.forEach(([re, im], k) => {
      take(rest[scene.seen[k]], [0, 1].map((d) => scene.size * Math.hypot(re[d], im[d])));
    });
  }
  return { low, high };
}

// From places in the picture to pixels of a box, with the same scale both ways.
function fit(frame, width, height, margin) {
  const wide = Math.max(frame.high[0] - frame.low[0], 1e-300);
  const tall = Math.max(frame.high[1] - frame.low[1], 1e-300);
  const per = Math.min((width - 2 * margin) / wide, (height - 2 * margin) / tall);
  const middle = [0, 1].map((d) => (frame.low[d] + frame.high[d]) / 2);
  return ([x, y]) => [width / 2 + (x - middle[0]) * per, height / 2 - (y - middle[1]) * per];
}

function placed(scene, view, phase) {
  const at = view.rest.map((one) => [...one]);
  const [cos, sin] = [scene.size * Math.cos(phase), scene.size * Math.sin(phase)];
  view.parts.forEach(([re, im], k) => {
    for (const d of [0, 1]) at[scene.seen[k]][d] += cos * re[d] - sin * im[d];
  });
  return at;
}

function linesOf(scene, at, pixel, moving) {
  let text = "";
  for (const [a, b] of moving ? scene.moving : scene.pairs) {
    const [from, to] = [pixel(at[a]), pixel(at[b])];
    text += `M${round(from[0])} ${round(from[1])}L${round(to[0])} ${round(to[1])}`;
  }
  return text;
}

// The way of each node: a stroke, or in a mode that turns a ring with an arrow.
function waysOf(scene, view, pixel, turns, head = 7) {
  let text = "";
  const at = (k, phase) => {
    const [re, im] = view.parts[k];
    const rest = view.rest[scene.seen[k]];
    const [cos, sin] = [scene.size * Math.cos(phase), scene.size * Math.sin(phase)];
    return pixel([0, 1].map((d) => rest[d] + cos * re[d] - sin * im[d]));
  };
  const point = ([x, y]) => `${round(x)} ${round(y)}`;
  scene.seen.forEach((_, k) => {
    if (!turns) {
      text += `M${point(at(k, 0))}L${point(at(k, Math.PI))}`;
      return;
    }
    for (let n = 0; n < WAY; n++) text += `${n ? "L" : "M"}${point(at(k, (2 * Math.PI * n) / WAY))}`;
    text += `Z${arrow(at(k, Math.PI / 4), at(k, Math.PI / 4 - 0.1), head)}`;
  });
  return text;
}

function arrow(tip, before, head) {
  const [dx, dy] = [tip[0] - before[0], tip[1] - before[1]];
  const size = Math.hypot(dx, dy) / head;
  if (size < 0.05) return "";
  const [x, y] = [dx / size, dy / size];
  const [left, right] = [1, -1].map((side) => {
    return `${round(tip[0] - x - side * 0.5 * y)} ${round(tip[1] - y + side * 0.5 * x)}`;
  });
  return `M${left}L${round(tip[0])} ${round(tip[1])}L${right}`;
}

function dotsOf(nodes, at, pixel, size) {
  return nodes.map((k) => circle(...pixel(at[k]), size)).join("");
}

// -- the large picture

function layOut(scene) {
  const width = Math.max(scene.stage.clientWidth, 220);
  const { low, high } = (scene.frame = frameOf(scene));
  const shape = (high[1] - low[1]) / Math.max(high[0] - low[0], 1e-300);
  if (!scene.height) scene.height = Math.round(clamp(width * shape, 170, 420));
  scene.stage.setAttribute("viewBox", `0 0 ${width} ${scene.height}`);
  scene.pixel = fit(scene.frame, width, scene.height, 26);
  scene.view = lookAt(scene, scene.modes[scene.mode]);
  const { rest, back, ways, rings } = scene.paths;
  rest.setAttribute("d", linesOf(scene, scene.view.rest, scene.pixel, false));
  const turns = Boolean(scene.modes[scene.mode].imaginary);
  ways.setAttribute("d", waysOf(scene, scene.view, scene.pixel, turns));
  back.setAttribute("d", "");
  rings.setAttribute("d", dotsOf(scene.unseen, scene.view.rest, scene.pixel, 2.6));
  corner(scene);
  pose(scene);
}

function corner(scene) {
  const [right, up] = scene.view.axes;
  const [x, y] = [24, scene.height - 24];
  let text = "";
  scene.names.forEach((name, d) => {
    const arm = [18 * right[d], -18 * up[d]];
    const shown = Math.hypot(...arm) > 5;
    if (shown) text += `M${x} ${y}L${round(x + arm[0])} ${round(y + arm[1])}`;
    name.setAttribute("x", round(x + 1.5 * arm[0]));
    name.setAttribute("y", round(y + 1.5 * arm[1] + 4));
    name.setAttribute("visibility", shown ? "visible" : "hidden");
  });
  scene.paths.corner.setAttribute("d", text);
}

// The picture at one phase; at rest the other end of the motion stands beside it.
function pose(scene) {
  scene.at = placed(scene, scene.view, scene.phase);
  const { shape, back, discs } = scene.paths;
  shape.setAttribute("d", linesOf(scene, scene.at, scene.pixel, true));
  const other = scene.playing ? null : placed(scene, scene.view, scene.phase + Math.PI);
  back.setAttribute("d", other ? linesOf(scene, other, scene.pixel, true) : "");
  discs.setAttribute("d", dotsOf(scene.seen, scene.at, scene.pixel, 3.5));
  scene.slider.value = String(Math.round((scene.phase * 180) / Math.PI) % 360);
}

function play(scene, playing) {
  scene.playing = playing;
  scene.button.textContent = playing ? "pause" : "play";
  scene.last = null;
  if (!playing) pose(scene);
  else requestAnimationFrame((now) => advance(scene, now));
}

function advance(scene, now) {
  if (!scene.playing || !scene.inSight) return;
  const passed = scene.last === null ? 0 : Math.min(now - scene.last, 100);
  scene.last = now;
  scene.phase = (scene.phase + (2 * Math.PI * passed) / PERIOD) % (2 * Math.PI);
  pose(scene);
  requestAnimationFrame((then) => advance(scene, then));
}

function chooseMode(scene, mode) {
  scene.mode = mode;
  scene.choices.forEach((one, k) => one.setAttribute("aria-pressed", String(k === mode)));
  const { name, values } = scene.modes[mode];
  scene.name.textContent = `${name}: ${values.join(", ")}`;
  scene.stage.setAttribute("aria-label", `${scene.name.textContent}, on the structure`);
  layOut(scene);
}

// -- what one can do

function steer(scene, parent) {
  const button = (text, title, action) => {
    const node = html(parent, "button", "tool", text);
    node.type = "button";
    node.title = title;
    node.addEventListener("click", action);
    return node;
  };
  scene.button = button("play", "move the structure, or stop it", () => {
    scene.asked = true;
    play(scene, !scene.playing);
  });
  scene.slider = html(parent, "input", "phase");
  Object.assign(scene.slider, { type: "range", min: 0, max: 359, value: 0, title: "phase" });
  scene.slider.setAttribute("aria-label", "phase in degrees");
  scene.slider.addEventListener("input", () => {
    scene.asked = true;
    scene.phase = (scene.slider.valueAsNumber * Math.PI) / 180;
    play(scene, false);
  });
  const resize = (factor) => {
    scene.size = clamp(scene.size * factor, 0.1, 10);
    layOut(scene);
  };
  button("−", "smaller motion", () => resize(1 / 1.5));
  button("+", "larger motion", () => resize(1.5));
  for (const side in SIDES) {
    button(side, side === "oblique" ? "look from aside" : `look along ${side}`, () => {
      scene.eye = [...SIDES[side]];
      layOut(scene);
    });
  }
}

function turnBy(scene, azimuth, elevation) {
  scene.eye = [scene.eye[0] + azimuth, clamp(scene.eye[1] + elevation, -90, 90)];
  layOut(scene);
}

function handle(scene) {
  const stage = scene.stage;
  let from = null;
  stage.addEventListener("pointerdown", (event) => {
    from = [event.clientX, event.clientY];
    scene.tip.hidden = true;
    stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener("pointermove", (event) => {
    if (!from) return nameNode(scene, event);
    turnBy(scene, (from[0] - event.clientX) / 2, (event.clientY - from[1]) / 2);
    from = [event.clientX, event.clientY];
  });
  for (const end of ["pointerup", "pointercancel"]) {
    stage.addEventListener(end, () => { from = null; });
  }
  stage.addEventListener("pointerleave", () => { scene.tip.hidden = true; });
  const keys = { ArrowLeft: [5, 0], ArrowRight: [-5, 0], ArrowUp: [0, 5], ArrowDown: [0, -5] };
  stage.addEventListener("keydown", (event) => {
    if (!keys[event.key]) return;
    turnBy(scene, ...keys[event.key]);
    event.preventDefault();
  });
}

function nameNode(scene, event) {
  const box = scene.stage.getBoundingClientRect();
  const per = scene.stage.viewBox.baseVal.width / box.width;
  const [x, y] = [(event.clientX - box.left) * per, (event.clientY - box.top) * per];
  let [best, node] = [NEAR, -1];
  scene.at.forEach((at, k) => {
    const [px, py] = scene.pixel(at);
    const away = Math.hypot(px - x, py - y);
    if (away < best) [best, node] = [away, k];
  });
  scene.tip.hidden = node < 0;
  if (node < 0) return;
  scene.tip.replaceChildren();
  html(scene.tip, "b", "", `node ${scene.nodes[node]}`);
  const note = scene.modes[scene.mode].notes[scene.seen.indexOf(node)];
  html(scene.tip, "span", "of", note || "no channel: drawn at rest");
  put(scene, event);
}

// -- small pictures to choose from

function choices(scene, parent) {
  const light = scene.pairs.length * scene.modes.length <= HEAVY;
  scene.choices = scene.modes.map((mode, k) => {
    const one = html(parent, "button", "choice");
    one.type = "button";
    if (light) small(scene, one, mode);
    for (const words of [mode.name, ...mode.values]) html(one, "span", "", words);
    one.addEventListener("click", () => chooseMode(scene, k));
    return one;
  });
}

function small(scene, parent, mode) {
  const [width, height] = [130, 96];
  const box = svg(parent, "svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const view = lookAt(scene, mode);
  const pixel = fit(scene.frame, width, height, 6);
  const draw = (look, text) => svg(box, "path", { class: look, d: text });
  draw("line muted faint", linesOf(scene, view.rest, pixel, false));
  if (mode.imaginary) draw("line sky faint", waysOf(scene, view, pixel, true, 4));
  draw("line blue", linesOf(scene, placed(scene, view, 0), pixel, true));
}

// -- all of it

function unpackMode(mode) {
  return { ...mode, real: decode(mode.real), imaginary: decode(mode.imaginary) };
}

// Pairs of nodes, those of which one moves, and the nodes at rest as far as they are marked.
function endsOf({ nodes, lines, seen }) {
  const known = new Set(seen);
  const pairs = [];
  for (let k = 0; k < lines.length; k += 2) pairs.push([lines[k], lines[k + 1]]);
  const rest = nodes.map((_, k) => k).filter((k) => !known.has(k));
  return {
    pairs,
    moving: pairs.filter(([a, b]) => known.has(a) || known.has(b)),
    unseen: rest.length > MOST_RINGS ? [] : rest,
  };
}

function paint(scene) {
  const path = (look) => svg(scene.stage, "path", { class: look, d: "" });
  scene.paths = {
    rest: path("line muted faint"),
    ways: path("line sky faint"),
    back: path("line blue faint dash4"),
    shape: path("line blue shape"),
    rings: path("marker ring muted"),
    discs: path("marker disc blue"),
    corner: path("line muted faint"),
  };
  scene.names = ["x", "y", "z"].map((name) => svg(scene.stage, "text", { class: "axis-name" }, name));
}

function buildStructure(root) {
  const data = JSON.parse(document.getElementById(root.dataset.values).textContent);
  const scene = {
    ...data,
    root,
    positions: decode(data.positions),
    modes: data.modes.map(unpackMode),
    ...endsOf(data),
    ...{ mode: 0, phase: 0, size: 1, playing: false, inSight: false, asked: false, last: null },
  };
  const head = html(root, "div", "head");
  scene.name = html(head, "span", "mode-name");
  steer(scene, html(head, "div", "tools"));
  scene.stage = svg(root, "svg", { class: "stage", role: "img", tabindex: 0 });
  paint(scene);
  scene.tip = html(root, "div", "tip");
  scene.tip.hidden = true;
  scene.frame = frameOf(scene);
  choices(scene, html(root, "div", "choices"));
  handle(scene);
  chooseMode(scene, 0);
  root.scene = scene;
  new ResizeObserver(() => layOut(scene)).observe(root);
  watch(scene);
}

// It moves by itself while it is in sight, unless that is not wanted; paper shows one end.
function watch(scene) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  new IntersectionObserver(([seen]) => {
    scene.inSight = seen.isIntersecting;
    if (scene.inSight && !scene.asked && !still) scene.playing = true;
    if (scene.inSight && scene.playing) play(scene, true);
  }, { threshold: 0.3 }).observe(scene.stage);
  addEventListener("beforeprint", () => {
    scene.phase = 0;
    play(scene, false);
  });
}
