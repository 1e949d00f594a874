// How wide each window was at the last instants that the page heard of.
const SAMPLES_LIMIT = 600;

export class WidthLog {
  constructor() {
    this.windows = new Map();
  }

  /** Notes the widths at this instant of event time. */
  append(windows, clockUs) {
    if (clockUs === null) return;
    const alive = new Set(windows.map((window) => window.window ?? window.stream));
    for (const key of this.windows.keys()) if (!alive.has(key)) this.windows.delete(key);
    for (const window of windows) this.#note(window.window ?? window.stream, clockUs, window.width_us ?? NaN);
  }

  /** The samples of one window: instants, widths, and how many there are. */
  of(key) {
    return this.windows.get(key) ?? { at: new Float64Array(0), width: new Float64Array(0), size: 0 };
  }

  #note(key, at, width) {
    let log = this.windows.get(key);
    if (log === undefined) {
      log = { at: new Float64Array(SAMPLES_LIMIT), width: new Float64Array(SAMPLES_LIMIT), size: 0 };
      this.windows.set(key, log);
    }
    if (log.size && log.at[log.size - 1] >= at) {
      log.width[log.size - 1] = width;
      return;
    }
    if (log.size === SAMPLES_LIMIT) {
      log.at.copyWithin(0, 1);
      log.width.copyWithin(0, 1);
      log.size -= 1;
    }
    log.at[log.size] = at;
    log.width[log.size++] = width;
  }
}
