// One window's width as a moving line: what was heard of it, and the turns that it will take.
import { html, useLayoutEffect, useRef } from "../vendor/preact.js";
import { colours, faded } from "../charts/colours.js";
import { about, clock } from "../shown/times.js";
import { useTheme } from "../shown/theme.js";

const HEIGHT = 76;
const FLAT_HEIGHT = 26; // of one that has always been as wide as was asked
const EDGE = 7;
const NOW_AT = 0.75; // of the width: the rest is for the turns to come
const PERIODS_SHOWN = 4;

export function Turns({ window, log }) {
  const canvas = useRef(null);
  const theme = useTheme();
  const { at_us: atUs, width_us: widthUs, wanted_us: wantedUs } = window;
  const height = isFlat(window, log) ? FLAT_HEIGHT : HEIGHT;
  const paint = useRef(null);
  paint.current = () => atUs !== null && draw(canvas.current, window, log, height);
  useLayoutEffect(() => paint.current(), [window, log, theme, height]);
  // Observed no longer than it is there: an effect of the other kind would end a moment too late.
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => paint.current());
    observer.observe(canvas.current);
    return () => observer.disconnect();
  }, []);
  return html`<figure class="turns"><figcaption><span class="name">${window.window}</span>
      <span class="muted numbers">${atUs === null ? "no rows yet" : `${about(widthUs)} of ${about(wantedUs)} at ${clock(atUs).slice(0, 8)}`}</span></figcaption>
    <canvas ref=${canvas} class=${height === HEIGHT ? "" : "flat"} role="img" aria-label=${`${window.window}: ${about(widthUs)} of ${about(wantedUs)}, ${standing(window)}`}></canvas></figure>`;
}

/** Whether it takes turns, and whether one is on. */
function standing({ turns, at_us: at }) {
  if (!turns.length) return "takes no turns";
  return turns.some(({ wide, from_us: from, to_us: to }) => wide && from < at && at <= to) ? "takes turns, in a turn now" : "takes turns, between two now";
}

function isFlat({ turns, width_us: width, wanted_us: wanted }, log) {
  return !turns.length && width === wanted && leastOf(log, wanted) === wanted;
}

function leastOf({ width, size }, otherwise) {
  let least = otherwise;
  for (let place = 0; place < size; place++) if (width[place] < least) least = width[place];
  return least;
}

function draw(canvas, window, log, height) {
  const [width, nowUs] = [canvas.clientWidth, window.at_us];
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const paint = canvas.getContext("2d");
  paint.setTransform(ratio, 0, 0, ratio, 0, 0);
  paint.clearRect(0, 0, width, height);
  const palette = colours();
  const spanUs = spanOf(window, log, nowUs);
  const x = (us) => width * NOW_AT + ((us - nowUs) / spanUs) * width;
  const [bottom, top] = rangeOf(window, log);
  const y = (us) => height - EDGE - ((us - bottom) / (top - bottom || 1)) * (height - 2 * EDGE);
  const shade = (colour, from, to) => {
    paint.fillStyle = colour;
    paint.fillRect(from, 0, Math.max(1, to - from), height);
  };
  for (const [from, to] of heardTurns(log)) shade(faded(palette.accent, 0.2), x(from), x(to));
  const coming = window.turns.filter(({ wide, to_us: to }) => wide && to > nowUs);
  for (const turn of coming) shade(faded(palette.accent, 0.1), x(Math.max(nowUs, turn.from_us)), x(turn.to_us));
  line(paint, palette.muted, [[0, y(window.wanted_us)], [width, y(window.wanted_us)]], [4, 4]);
  line(paint, palette.lineStrong, [[x(nowUs), 0], [x(nowUs), height]]);
  if (coming.length) line(paint, palette.accent, foreseen(window, coming, nowUs, nowUs + spanUs).map(([at, wide]) => [x(at), y(wide)]), [2, 3]);
  trace(paint, palette.accent, log, x, y);
  if (height === HEIGHT) scale(paint, palette.muted, width, height, bottom, top);
}

// From what was asked down to nothing, or to a little below the narrowest where that would be far off.
function rangeOf({ wanted_us: wanted, width_us: width, narrow_us: narrow }, log) {
  const top = Math.max(wanted, width ?? 0);
  const least = leastOf(log, Math.min(top, narrow ?? top));
  return [Math.max(0, least - Math.max(0.6 * (top - least), 0.05 * top)), top];
}

function scale(paint, colour, width, height, bottom, top) {
  paint.fillStyle = colour;
  paint.font = "10.5px system-ui, sans-serif";
  paint.textAlign = "right";
  paint.fillText(about(top), width - 4, EDGE + 12);
  paint.fillText(bottom > 0 ? about(bottom) : "0", width - 4, height - EDGE + 2);
}

// A few turns, or as far back as was heard.
function spanOf({ turns }, log, nowUs) {
  const wide = turns.filter((turn) => turn.wide);
  if (wide.length > 1) return PERIODS_SHOWN * (wide[1].from_us - wide[0].from_us);
  return Math.max(log.size ? (nowUs - log.at[0]) / NOW_AT : 0, 10e6);
}

// Spans in which every instant that was heard of lay in a turn. Those of the past are kept, though
// the turns may have been decided anew since.
function heardTurns({ at, inTurn, size }) {
  const found = [];
  for (let place = 0; place < size; place++) {
    if (!inTurn[place]) continue;
    if (place && inTurn[place - 1]) found.at(-1)[1] = at[place];
    else found.push([at[place], at[place]]);
  }
  return found;
}

// In a turn nothing is let go, so that the window grows by a second a second; then it is narrow again.
function foreseen({ narrow_us: narrow, width_us: now }, coming, nowUs, endUs) {
  const points = [[nowUs, now]];
  for (const { from_us: from, to_us: to } of coming) {
    if (from > nowUs) points.push([from, narrow]);
    points.push([to, from > nowUs ? narrow + to - from : now + to - nowUs], [to, narrow]);
  }
  return [...points, [Math.max(endUs, points.at(-1)[0]), narrow]];
}

function line(paint, colour, points, dashes = []) {
  paint.strokeStyle = colour;
  paint.setLineDash(dashes);
  paint.beginPath();
  for (const [x, y] of points) paint.lineTo(x, y);
  paint.stroke();
  paint.setLineDash([]);
}

function trace(paint, colour, { at, width, size }, x, y) {
  const points = [];
  for (let place = 0; place < size; place++) {
    if (Number.isNaN(width[place])) continue;
    // A turn ends at once: the drop is drawn upright, at the next instant that was heard of.
    if (place && width[place] < width[place - 1]) points.push([x(at[place]), y(width[place - 1])]);
    points.push([x(at[place]), y(width[place])]);
  }
  if (!points.length) return;
  paint.lineWidth = 1.75;
  line(paint, colour, points);
  paint.lineWidth = 1;
  paint.fillStyle = colour;
  paint.beginPath();
  paint.arc(...points.at(-1), 3, 0, 2 * Math.PI);
  paint.fill();
}
