// The chart of a query, drawn on a canvas. Nothing is loaded from anywhere, and texts are only ever
// set as text. data holds, for each line in turn, its times, values, lower and upper ends.

const COLOURS = [
  "#2f7fb8", "#d9822b", "#2e9e6b", "#c0504d", "#8a6fc0", "#a0845c",
  "#d06fa8", "#7f8c8d", "#b0a02a", "#3ba7b5", "#5c7f3a", "#9a5f8f",
];
const MARGIN = { left: 64, right: 12, top: 10, bottom: 26 };

export function readLines(model) {
  const raw = model.get("data");
  const layout = model.get("lines") || [];
  const total = layout.reduce((sum, line) => sum + line.count, 0);
  if (!raw || raw.byteLength !== total * 32) return [];
  // A view may begin anywhere in its buffer; doubles must begin at a multiple of eight.
  const bytes = new Uint8Array(raw.buffer, raw.byteOffset, raw.byteLength).slice();
  const numbers = new Float64Array(bytes.buffer);
  let begin = 0;
  return layout.map((line, index) => {
    const part = (row) => numbers.subarray(begin + row * line.count, begin + (row + 1) * line.count);
    const parts = [part(0), part(1), part(2), part(3)];
    begin += 4 * line.count;
    const [times, values, lows, highs] = parts;
    return { ...line, colour: COLOURS[index % COLOURS.length], times, values, lows, highs };
  });
}

function extent(lines) {
  const seen = { left: Infinity, right: -Infinity, low: Infinity, high: -Infinity };
  for (const line of lines) {
    for (let i = 0; i < line.count; i++) {
      seen.left = Math.min(seen.left, line.times[i]);
      seen.right = Math.max(seen.right, line.times[i]);
      for (const value of [line.values[i], line.lows[i], line.highs[i]]) {
        if (!Number.isFinite(value)) continue;
        seen.low = Math.min(seen.low, value);
        seen.high = Math.max(seen.high, value);
      }
    }
  }
  if (seen.low > seen.high) [seen.low, seen.high] = [0, 1];
  if (seen.low === seen.high) [seen.low, seen.high] = [seen.low - 1, seen.high + 1];
  // Nought belongs to a chart whose values are near it.
  if (seen.low > 0 && seen.low < 0.5 * seen.high) seen.low = 0;
  const room = 0.05 * (seen.high - seen.low);
  seen.high += room;
  if (seen.low !== 0) seen.low -= room;
  if (seen.left === seen.right) [seen.left, seen.right] = [seen.left - 500, seen.right + 500];
  return seen;
}

export function niceSteps(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const steps = [];
  for (let at = Math.ceil(low / step) * step; at <= high; at += step) {
    steps.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  }
  return steps;
}

const SPANS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5,
  36e5, 72e5, 108e5, 216e5, 432e5, 864e5,
];

function timeSteps(left, right, wanted) {
  const rough = (right - left) / Math.max(1, wanted);
  const step = SPANS_MS.find((each) => each >= rough) || Math.ceil(rough / 864e5) * 864e5;
  const steps = [];
  for (let at = Math.ceil(left / step) * step; at <= right; at += step) steps.push(at);
  return { step, steps };
}

function timeText(at, step) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  const text = date.toISOString();
  if (step >= 864e5) return text.slice(0, 10);
  return step < 1000 ? text.slice(14, 23) : step < 6e4 ? text.slice(11, 19) : text.slice(11, 16);
}

function valueText(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e9 || size < 1e-4)) return value.toExponential(1);
  return value.toLocaleString("en", { maximumFractionDigits: size >= 100 ? 0 : 4 });
}

function drawFrame(brush, seen, place, ink) {
  brush.font = "11px system-ui, sans-serif";
  brush.fillStyle = ink;
  brush.strokeStyle = ink;
  brush.lineWidth = 1;
  brush.textBaseline = "middle";
  brush.textAlign = "right";
  for (const value of niceSteps(seen.low, seen.high, place.height / 48)) {
    const y = Math.round(place.y(value)) + 0.5;
    brush.globalAlpha = 0.15;
    brush.beginPath();
    brush.moveTo(MARGIN.left, y);
    brush.lineTo(MARGIN.left + place.width, y);
    brush.stroke();
    brush.globalAlpha = 0.75;
    brush.fillText(valueText(value), MARGIN.left - 8, y);
  }
  brush.textAlign = "center";
  brush.textBaseline = "top";
  const { step, steps } = timeSteps(seen.left, seen.right, place.width / 90);
  for (const at of steps) {
    const x = Math.min(place.x(at), MARGIN.left + place.width - 16);
    brush.fillText(timeText(at, step), x, MARGIN.top + place.height + 8);
  }
  brush.globalAlpha = 1;
}

// The stretches of a line between its holes.
function* stretches(line) {
  let begin = -1;
  for (let i = 0; i <= line.count; i++) {
    const isThere = i < line.count && !Number.isNaN(line.values[i]);
    if (isThere && begin < 0) begin = i;
    if (!isThere && begin >= 0) {
      yield [begin, i];
      begin = -1;
    }
  }
}

function drawLine(brush, line, place, seen) {
  const clip = (value) => Math.min(Math.max(value, seen.low), seen.high);
  brush.strokeStyle = line.colour;
  brush.fillStyle = line.colour;
  brush.lineWidth = 1.75;
  brush.lineJoin = "round";
  for (const [begin, end] of stretches(line)) {
    brush.globalAlpha = 0.2;
    brush.beginPath();
    for (let i = begin; i < end; i++) brush.lineTo(place.x(line.times[i]), place.y(clip(line.highs[i])));
    for (let i = end - 1; i >= begin; i--) brush.lineTo(place.x(line.times[i]), place.y(clip(line.lows[i])));
    brush.fill();
    brush.globalAlpha = 1;
    brush.beginPath();
    for (let i = begin; i < end; i++) brush.lineTo(place.x(line.times[i]), place.y(clip(line.values[i])));
    brush.stroke();
    if (end - begin === 1) {
      brush.beginPath();
      brush.arc(place.x(line.times[begin]), place.y(clip(line.values[begin])), 2, 0, 7);
      brush.fill();
    }
  }
}

function placing(seen, width, height) {
  const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
  const across = seen.right - seen.left;
  const up = seen.high - seen.low;
  return {
    ...inner,
    x: (at) => MARGIN.left + ((at - seen.left) / across) * inner.width,
    y: (value) => MARGIN.top + inner.height - ((value - seen.low) / up) * inner.height,
    time: (x) => seen.left + ((x - MARGIN.left) / inner.width) * across,
  };
}

// The last point at or before a time, if it is no hole.
function pointAt(line, time) {
  let low = 0;
  let high = line.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (line.times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low > 0 && !Number.isNaN(line.values[low - 1]) ? low - 1 : -1;
}

function made(name, parent, style) {
  const element = document.createElement(name);
  Object.assign(element.style, style);
  parent.append(element);
  return element;
}

function fillLegend(legend, lines, leftOut, time) {
  const entries = lines.map((line) => {
    const entry = document.createElement("span");
    entry.style.marginRight = "16px";
    entry.style.whiteSpace = "nowrap";
    made("span", entry, {
      display: "inline-block", width: "10px", height: "3px", margin: "0 6px 3px 0",
      background: line.colour,
    });
    made("span", entry, { opacity: 0.75 }).textContent = `${line.label} `;
    const index = time === null ? -1 : pointAt(line, time);
    const text = time === null ? line.latest : index < 0 ? "—" : valueText(line.values[index]);
    made("b", entry, { fontVariantNumeric: "tabular-nums" }).textContent = text;
    return entry;
  });
  if (leftOut > 0) {
    const more = document.createElement("span");
    more.style.opacity = 0.6;
    more.textContent = `and ${leftOut} more groups, not drawn`;
    entries.push(more);
  }
  legend.replaceChildren(...entries);
}

function render({ model, el }) {
  const box = made("div", el, { font: "12px system-ui, sans-serif", color: "inherit", maxWidth: "100%" });
  const head = made("div", box, { display: "flex", gap: "10px", alignItems: "baseline" });
  const title = made("b", head, {});
  const about = made("span", head, { opacity: 0.6 });
  const canvas = made("canvas", box, { display: "block", width: "100%" });
  canvas.setAttribute("role", "img");
  const legend = made("div", box, { paddingLeft: `${MARGIN.left}px`, lineHeight: 1.6 });
  let lines = [];
  let pointer = null;
  let isDue = false;

  function draw() {
    isDue = false;
    const [width, height] = [box.clientWidth, model.get("height")];
    if (!width) return;
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = `${height}px`;
    const brush = canvas.getContext("2d");
    brush.setTransform(scale, 0, 0, scale, 0, 0);
    brush.clearRect(0, 0, width, height);
    const ink = getComputedStyle(box).color;
    const drawn = lines.filter((line) => line.count > 0);
    let time = null;
    if (drawn.length) {
      const seen = extent(drawn);
      const place = placing(seen, width, height);
      drawFrame(brush, seen, place, ink);
      for (const line of drawn) drawLine(brush, line, place, seen);
      if (pointer !== null && pointer >= MARGIN.left) {
        time = Math.min(place.time(pointer), seen.right);
        drawPointer(brush, place, time, ink);
      }
    } else {
      brush.fillStyle = ink;
      brush.globalAlpha = 0.6;
      brush.font = "12px system-ui, sans-serif";
      brush.fillText("no answers yet", MARGIN.left, height / 2);
      brush.globalAlpha = 1;
    }
    title.textContent = model.get("title");
    const moment = time === null ? "" : ` · ${new Date(time).toISOString().replace("T", " ").slice(0, 23)}`;
    about.textContent = `${model.get("value")} · ${model.get("state")}${moment}`;
    canvas.setAttribute("aria-label", `${model.get("title")}: ${lines.length} lines`);
    fillLegend(legend, lines, model.get("left_out"), time);
  }

  function drawPointer(brush, place, time, ink) {
    brush.strokeStyle = ink;
    brush.globalAlpha = 0.4;
    brush.beginPath();
    brush.moveTo(place.x(time), MARGIN.top);
    brush.lineTo(place.x(time), MARGIN.top + place.height);
    brush.stroke();
    brush.globalAlpha = 1;
  }

  // However many changes come between two frames, it is drawn once.
  function drawSoon() {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(draw);
  }
  function take() {
    lines = readLines(model);
    drawSoon();
  }
  const move = (event) => { pointer = event.offsetX; drawSoon(); };
  const leave = () => { pointer = null; drawSoon(); };
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerleave", leave);
  model.on("change:data", take);
  model.on("change:state", drawSoon);
  const watcher = new ResizeObserver(drawSoon);
  watcher.observe(box);
  take();
  return () => {
    watcher.disconnect();
    model.off("change:data", take);
    model.off("change:state", drawSoon);
  };
}

export default { render };
