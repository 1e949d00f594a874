// Instants and spans for people. All times are UTC; everything inside is microseconds.
const SECOND_US = 1e6;
const MINUTE_US = 60 * SECOND_US;
const HOUR_US = 60 * MINUTE_US;
const DAY_US = 24 * HOUR_US;

const UNITS = [
  [DAY_US, "day"],
  [HOUR_US, "hour"],
  [MINUTE_US, "minute"],
  [SECOND_US, "second"],
  [1000, "millisecond"],
  [1, "microsecond"],
];

/** "2026-01-01 09:30:05", with as much of a fraction as there is. */
export function instant(us) {
  if (us === null || us === undefined) return "–";
  const date = new Date(Math.floor(us / 1000));
  if (Number.isNaN(date.getTime())) return String(us);
  return `${date.toISOString().slice(0, 10)} ${clock(us)}`;
}

/** "09:30:05": the time of day, with as much of a fraction as there is. */
export function clock(us) {
  if (us === null || us === undefined) return "–";
  const date = new Date(Math.floor(us / 1000));
  if (Number.isNaN(date.getTime())) return String(us);
  const fraction = ((us % SECOND_US) + SECOND_US) % SECOND_US;
  const digits = fraction ? `.${String(Math.round(fraction)).padStart(6, "0").replace(/0+$/, "")}` : "";
  return date.toISOString().slice(11, 19) + digits;
}

/** "10 minutes", "1 h 30 min", "250 ms": exact where a unit divides it, else two units. */
export function span(us) {
  if (us === null || us === undefined) return "–";
  if (us === 0) return "0 s";
  if (us < 0) return `−${span(-us)}`;
  for (const [unit, name] of UNITS) {
    // No one reads a minute in microseconds.
    if (unit < SECOND_US && us > 10 * SECOND_US) break;
    if (us >= unit && us % unit === 0) return `${us / unit} ${short(name)}`;
  }
  return about(us);
}

/** A span rounded to what one can read at a glance: "1 h 30 min", "4.2 s". */
export function about(us) {
  if (us === null || us === undefined) return "–";
  if (us < 0) return `−${about(-us)}`;
  if (us >= DAY_US) return pair(us, DAY_US, "d", HOUR_US, "h");
  if (us >= HOUR_US) return pair(us, HOUR_US, "h", MINUTE_US, "min");
  if (us >= MINUTE_US) return pair(us, MINUTE_US, "min", SECOND_US, "s");
  if (us >= SECOND_US) return `${trimmed(us / SECOND_US)} s`;
  if (us >= 1000) return `${trimmed(us / 1000)} ms`;
  return us === 0 ? "0 s" : `${Math.round(us)} µs`;
}

/** A label for each place of a time axis, no finer than the step between them. */
export function axisLabels(seconds, step) {
  let day = "";
  return seconds.map((second) => {
    const text = new Date(Math.round(second * 1000)).toISOString();
    const isNewDay = text.slice(0, 10) !== day;
    day = text.slice(0, 10);
    if (step >= 86400) return text.slice(5, 10);
    const time = text.slice(11, step >= 60 ? 16 : step >= 1 ? 19 : 22);
    return isNewDay ? `${time}\n${day}` : time;
  });
}

function short(name) {
  return { day: "d", hour: "h", minute: "min", second: "s", millisecond: "ms", microsecond: "µs" }[name];
}

function pair(us, large, largeName, small, smallName) {
  let [count, rest] = [Math.floor(us / large), Math.round((us % large) / small)];
  if (rest * small >= large) [count, rest] = [count + 1, 0];
  return rest ? `${count} ${largeName} ${rest} ${smallName}` : `${count} ${largeName}`;
}

function trimmed(value) {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)));
}
