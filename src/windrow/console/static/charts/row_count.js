// How many rows a select holds, from its changes: what came less what went.
import { AnswerLog } from "./answer_log.js";

const COLUMNS = ["at", "level", "error_bound", "rows"].map((name) => ({ name, type: "bigint" }));

export class RowCount {
  #log = new AnswerLog(COLUMNS, []);
  #rows = null;

  /** Takes changes in order, the last of which has this number, and gives the log of counts. */
  append(changes, number) {
    // Only who has seen all changes knows how many rows there were at first; others begin at the least.
    this.#rows ??= number === changes.length ? 0 : -least(changes);
    const counts = [];
    for (const [at, change] of changes) {
      this.#rows += change;
      if (counts.length && counts.at(-1)[0] === at) counts.at(-1)[3] = this.#rows;
      else counts.push([at, null, null, this.#rows]);
    }
    this.#log.append(counts);
    return this.#log;
  }
}

function least(changes) {
  let [sum, lowest] = [0, 0];
  for (const [, change] of changes) {
    sum += change;
    lowest = Math.min(lowest, sum);
  }
  return lowest;
}
