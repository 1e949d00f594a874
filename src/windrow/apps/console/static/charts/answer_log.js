// Answers of one query as columns of numbers: an instant a place, a line a group, no object a point.
import { drawn, isNumber, shown } from "../shown/values.js";

export const INSTANTS_LIMIT = 100_000;
export const LINES_LIMIT = 40;
const MEASURES_LIMIT = 4;
// All lines together: eight of one measure have room for all instants, more of them for fewer.
const FIGURES_LIMIT = 1_600_000;
const UNTOLD_LIMIT = 10_000;
const FIRST_CAPACITY = 1024;
const ENDS_LIMIT = 10_000; // of each line
const LEAD = 3; // at, level, error_bound

/** Grows with the answers that come, and lets the oldest go beyond the limit. */
export class AnswerLog {
  #ending = { us: -Infinity, net: new Map() };

  /** everyUs: the time between two answers, where it is fixed. */
  constructor(columns, groupColumns, everyUs = null) {
    this.everyS = everyUs === null ? null : everyUs / 1e6;
    const grouping = new Set(groupColumns);
    const places = columns.map((column, place) => ({ ...column, place })).slice(LEAD);
    this.groupPlaces = places.filter((column) => grouping.has(column.name));
    this.measures = places.filter((column) => !grouping.has(column.name) && isNumber(column.type)).slice(0, MEASURES_LIMIT);
    this.size = 0;
    this.capacity = FIRST_CAPACITY;
    this.seconds = new Float64Array(this.capacity);
    this.lines = [];
    this.byGroup = new Map();
    this.untold = new Set(); // groups beyond the limit, which are not kept
    this.hasBounds = false;
    this.lastUs = -Infinity;
    this.version = 0;
  }

  /** Takes rows in the order of their instants. */
  append(rows) {
    for (const row of rows) {
      if (row[0] !== this.lastUs) this.#begin(row[0]);
      this.#put(row);
    }
    this.version += 1;
  }

  /** Takes changes in order: a group that goes and does not come back at once has no value from then on. */
  noteChanges(columns, rows) {
    const places = this.groupPlaces.map(({ name, type }) => ({ type, place: columns.findIndex((column) => column.name === name) }));
    for (const row of rows) {
      if (row[0] !== this.#ending.us) this.#endGroups(row[0]);
      const label = labelOf(places, row);
      this.#ending.net.set(label, (this.#ending.net.get(label) ?? 0) + row[1]);
    }
  }

  // All changes of an instant have come when those of a later one do.
  #endGroups(us) {
    for (const [label, net] of this.#ending.net) {
      const ends = net < 0 ? this.byGroup.get(label)?.ends : undefined;
      ends?.push(this.#ending.us / 1e6);
      if (ends?.length > ENDS_LIMIT) ends.splice(0, ENDS_LIMIT >> 2);
    }
    this.#ending = { us, net: new Map() };
  }

  #limit() {
    const arrays = Math.max(1, this.lines.length) * (this.measures.length + 1);
    return Math.min(INSTANTS_LIMIT, Math.floor(FIGURES_LIMIT / arrays));
  }

  #begin(us) {
    if (this.size >= this.#limit()) this.#forget();
    if (this.size === this.capacity) this.#grow();
    const place = this.size++;
    this.seconds[place] = us / 1e6;
    this.lastUs = us;
    for (const line of this.lines) {
      line.bound[place] = 0;
      for (const values of line.values) values[place] = NaN;
    }
  }

  #put(row) {
    const line = this.#lineOf(row);
    if (line === null) return;
    const place = this.size - 1;
    for (let m = 0; m < this.measures.length; m++) {
      const value = drawn(row[this.measures[m].place]);
      line.values[m][place] = value;
      if (Math.abs(value) > line.peaks[m] && value !== Infinity && value !== -Infinity) line.peaks[m] = Math.abs(value);
    }
    const bound = row[2] === null ? 0 : drawn(row[2]);
    line.bound[place] = bound;
    if (bound > 0) this.hasBounds = true;
  }

  #lineOf(row) {
    const label = labelOf(this.groupPlaces, row);
    const known = this.byGroup.get(label);
    if (known !== undefined) return known;
    if (this.lines.length === LINES_LIMIT) {
      if (this.untold.size < UNTOLD_LIMIT) this.untold.add(label);
      return null;
    }
    const line = {
      label,
      bound: new Float64Array(this.capacity),
      values: this.measures.map(() => new Float64Array(this.capacity).fill(NaN)),
      peaks: this.measures.map(() => -1),
      ends: [],
      everyS: this.everyS,
    };
    this.lines.push(line);
    this.byGroup.set(label, line);
    return line;
  }

  #grow() {
    this.capacity = Math.min(INSTANTS_LIMIT, this.capacity * 2);
    const grown = (values, filling) => {
      const next = new Float64Array(this.capacity).fill(filling, this.size);
      next.set(values);
      return next;
    };
    this.seconds = grown(this.seconds, 0);
    for (const line of this.lines) {
      line.bound = grown(line.bound, 0);
      line.values = line.values.map((values) => grown(values, NaN));
    }
  }

  // A quarter at once, so that moving the rest is rare.
  #forget() {
    const gone = Math.max(this.size - this.#limit(), 0) + (this.#limit() >> 2);
    this.seconds.copyWithin(0, gone);
    for (const line of this.lines) {
      line.bound.copyWithin(0, gone);
      for (const values of line.values) values.copyWithin(0, gone);
    }
    this.size -= gone;
  }
}

function labelOf(places, row) {
  return places.map(({ place, type }) => shown(row[place], type)).join(", ");
}
