// Which groups are drawn, each in a colour that it keeps: the ones with the highest peaks, until the
// reader picks others.
import { useRef, useState } from "../vendor/preact.js";

export const DRAWN_LIMIT = 8;

/** {lines: [{line, slot}], isPicked, toggle(label), reset()}. */
export function useDrawnLines(log, measure) {
  const [picked, setPicked] = useState(null);
  const slots = useRef(new Map());
  const labels = picked ?? new Set(highest(log, measure).map(({ label }) => label));
  const lines = log.lines.filter(({ label }) => labels.has(label));
  assign(slots.current, lines);
  const toggle = (label) => {
    const next = new Set(labels);
    if (!next.delete(label) && next.size < DRAWN_LIMIT) next.add(label);
    setPicked(next);
  };
  return { lines: lines.map((line) => ({ line, slot: slots.current.get(line.label) })), isPicked: picked !== null, toggle, reset: () => setPicked(null) };
}

function highest(log, measure) {
  if (log.lines.length <= DRAWN_LIMIT) return log.lines;
  return [...log.lines].sort((a, b) => b.peaks[measure] - a.peaks[measure]).slice(0, DRAWN_LIMIT);
}

// One that goes gives its colour to the next that comes.
function assign(slots, lines) {
  const alive = new Set(lines.map(({ label }) => label));
  for (const label of slots.keys()) if (!alive.has(label)) slots.delete(label);
  const free = Array.from({ length: DRAWN_LIMIT }, (_, slot) => slot).filter((slot) => ![...slots.values()].includes(slot));
  for (const label of alive) if (!slots.has(label)) slots.set(label, free.shift());
}
