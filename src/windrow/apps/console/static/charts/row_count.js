// How many rows a select holds, from its changes: what came less what went.
import { AnswerLog } from "./answer_log.js";
import { placeOf } from "./thinning.js";

const COLUMNS = ["at", "level", "error_bound", "rows"].map((name) => ({ name, type: "bigint" }));

export class RowCount {
  #log = new AnswerLog(COLUMNS, []);
  #rows = null;
  #isKnown = false;
  #result = null;

  /** Takes changes in order, the last of which has this number, and gives the log of counts. */
  append(changes, number) {
    // Only who has seen all changes knows how many rows there were at first; others begin at the
    // least, until a result says how many there are.
    if (this.#rows === null) {
      this.#isKnown = number === changes.length;
      this.#rows = this.#isKnown ? 0 : -least(changes);
    }
    const counts = [];
    for (const [at, change] of changes) {
      this.#rows += change;
      if (counts.length && counts.at(-1)[0] === at) counts.at(-1)[3] = this.#rows;
      else counts.push([at, null, null, this.#rows]);
    }
    this.#log.append(counts);
    this.#settle();
    return this.#log;
  }

  /** Changes were missed: what is counted is off until the next result. */
  miss() {
    this.#isKnown = false;
    this.#result = null;
  }

  /** The result had so many rows at that instant. */
  note(atUs, rows) {
    if (!this.#isKnown) this.#result = [atUs, rows];
    this.#settle();
  }

  // A later change has come: so all changes through the instant of the result are counted.
  #settle() {
    const log = this.#log;
    if (this.#isKnown || this.#result === null || !(log.lastUs > this.#result[0])) return;
    const [atUs, rows] = this.#result;
    this.#result = null;
    const place = placeOf(log.seconds, log.size, (atUs + 0.5) / 1e6) - 1;
    if (place < 0) return;
    const [counts] = log.lines[0].values;
    const difference = rows - counts[place];
    for (let each = 0; each < log.size; each++) counts[each] += difference;
    this.#rows += difference;
    this.#isKnown = true;
    log.version += 1;
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
