// One window's width as a moving line, with the turns that it takes before and after now.
import { html, useLayoutEffect, useRef } from "../vendor/preact.js";
import { colours, faded } from "../charts/colours.js";
import { about, clock } from "../shown/times.js";
import { useTheme } from "../shown/theme.js";

const HEIGHT = 64;
const NOW_AT = 0.8; // of the width: the rest is for the turns to come

export function Turns({ window, log, clockUs }) {
  const canvas = useRef(null);
  const theme = useTheme();
  useLayoutEffect(() => {
    if (clockUs !== null) draw(canvas.current, window, log, clockUs);
  }, [window, log.size, clockUs, theme]);
  return html`<figure class="turns"><figcaption><span class="name">${window.window}</span>
      <span class="muted numbers">${window.width_us === null ? "" : `${about(window.width_us)} at ${clock(clockUs).slice(0, 8)}`}</span></figcaption>
    <canvas ref=${canvas} height=${HEIGHT} role="img" aria-label=${`${window.window}: ${about(window.width_us)} of ${about(window.wanted_us)}, ${window.turns.length ? "takes turns" : "takes no turns"}`}></canvas></figure>`;
}

function draw(canvas, window, log, nowUs) {
  const width = canvas.clientWidth;
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(HEIGHT * ratio);
  }
  const paint = canvas.getContext("2d");
  paint.setTransform(ratio, 0, 0, ratio, 0, 0);
  paint.clearRect(0, 0, width, HEIGHT);
  const palette = colours();
  const spanUs = spanOf(window, log, nowUs);
  const x = (us) => width * NOW_AT + ((us - nowUs) / spanUs) * width;
  const top = Math.max(window.wanted_us, window.width_us ?? 0) * 1.12;
  const y = (us) => HEIGHT - 4 - (us / top) * (HEIGHT - 8);
  for (const turn of window.turns) {
    if (!turn.wide) continue;
    paint.fillStyle = faded(palette.accent, turn.from_us > nowUs ? 0.1 : 0.2);
    paint.fillRect(x(turn.from_us), 0, Math.max(1, x(turn.to_us) - x(turn.from_us)), HEIGHT);
  }
  dashes(paint, palette.muted, [0, y(window.wanted_us), width, y(window.wanted_us)]);
  dashes(paint, palette.line, [x(nowUs), 0, x(nowUs), HEIGHT]);
  trace(paint, palette.accent, log, x, y);
}

// Far enough back to see what was heard, or a few turns.
function spanOf(window, log, nowUs) {
  const [turn] = window.turns;
  const heard = log.size ? nowUs - log.at[0] : 0;
  return Math.max(turn ? 1.4 * (nowUs - turn.from_us) : 0, heard / NOW_AT, 10e6);
}

function dashes(paint, colour, [x0, y0, x1, y1]) {
  paint.strokeStyle = colour;
  paint.setLineDash([4, 4]);
  paint.beginPath();
  paint.moveTo(x0, y0);
  paint.lineTo(x1, y1);
  paint.stroke();
  paint.setLineDash([]);
}

function trace(paint, colour, log, x, y) {
  if (!log.size) return;
  paint.beginPath();
  for (let place = 0; place < log.size; place++) {
    if (!Number.isNaN(log.width[place])) paint.lineTo(x(log.at[place]), y(log.width[place]));
  }
  paint.strokeStyle = paint.fillStyle = colour;
  paint.lineWidth = 1.5;
  paint.stroke();
  paint.lineWidth = 1;
  const last = log.size - 1;
  paint.beginPath();
  paint.arc(x(log.at[last]), y(log.width[last]), 3, 0, 2 * Math.PI);
  paint.fill();
}
