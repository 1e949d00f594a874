// Light or dark: what the machine prefers, unless the reader has chosen here.
import { useEffect, useState } from "../vendor/preact.js";

const KEY = "windrow-theme";
const preference = matchMedia("(prefers-color-scheme: dark)");
// Kept here and changed by the event alone: a browser tells of a change at its next frame, and
// not at all if the page has read the new value from the query before.
let prefersDark = preference.matches;
const listeners = new Set();

/** The choice: "system", "light" or "dark". */
export function choice() {
  const kept = read();
  return kept === "light" || kept === "dark" ? kept : "system";
}

/** "light" or "dark", as it is drawn now. */
export function theme() {
  return choice() === "system" ? (prefersDark ? "dark" : "light") : choice();
}

/** Chooses, and keeps the choice in this browser. */
export function choose(next) {
  try {
    localStorage.setItem(KEY, next);
  } catch {
    chosen = next; // Without storage, the choice lasts as long as the page.
  }
  show();
}

/** Applies the theme now, and whenever the machine's preference changes. */
export function followTheme() {
  preference.addEventListener("change", (event) => {
    prefersDark = event.matches;
    show();
  });
  show();
}

/** The theme, for components that draw with its colours. */
export function useTheme() {
  const [current, setCurrent] = useState(theme());
  useEffect(() => {
    const listener = () => setCurrent(theme());
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, []);
  return current;
}

let chosen = null;

function read() {
  try {
    return chosen ?? localStorage.getItem(KEY);
  } catch {
    return chosen;
  }
}

function show() {
  document.documentElement.dataset.theme = theme();
  for (const listener of listeners) listener();
}
