// How wide each window was at the last instants that the page heard of, and whether in a turn.
const SAMPLES_LIMIT = 600;
const NONE = { at: new Float64Array(0), width: new Float64Array(0), inTurn: new Uint8Array(0), size: 0 };

export class WidthLog {
  constructor() {
    this.windows = new Map();
  }

  /** Notes the widths, each at the instant of event time for which it holds. */
  append(windows) {
    const alive = new Set(windows.map(({ window }) => window));
    for (const key of this.windows.keys()) if (!alive.has(key)) this.windows.delete(key);
    for (const window of windows) if (window.at_us !== null) this.#note(window);
  }

  /** The samples of one window: instants, widths, whether a turn was on, and how many there are. */
  of(key) {
    return this.windows.get(key) ?? NONE;
  }

  #note({ window: key, at_us: at, width_us: width, turns }) {
    let log = this.windows.get(key);
    if (log === undefined) {
      log = { at: new Float64Array(SAMPLES_LIMIT), width: new Float64Array(SAMPLES_LIMIT), inTurn: new Uint8Array(SAMPLES_LIMIT), size: 0 };
      this.windows.set(key, log);
    }
    if (log.size && log.at[log.size - 1] >= at) log.size -= 1;
    if (log.size === SAMPLES_LIMIT) forgetOldest(log);
    const place = log.size++;
    log.at[place] = at;
    log.width[place] = width ?? NaN;
    log.inTurn[place] = turns.some(({ wide, from_us: from, to_us: to }) => wide && from < at && at <= to) ? 1 : 0;
  }
}

function forgetOldest(log) {
  for (const values of [log.at, log.width, log.inTurn]) values.copyWithin(0, 1);
  log.size -= 1;
}
