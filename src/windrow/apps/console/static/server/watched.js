// The query that is looked at: its answers as lines, the newest changes, the result now.
import { AnswerLog } from "../charts/answer_log.js";
import { RowCount } from "../charts/row_count.js";
import { address, get } from "./requests.js";

export const CHANGES_LIMIT = 500;
// What is drawn at first; the live connection goes on from there.
const FIRST_ROWS = 50_000;
const FIRST_CHANGES = 10_000;
const RESULT_MS = 1000;

export class WatchedQuery {
  #stop = new AbortController();
  #timer = null;
  #changed;

  /** `changed` is told when there is something new, `ready` when the live feeds may begin. */
  constructor({ name, kind, group_columns: groupColumns, every_us: everyUs }, { changed, ready }) {
    Object.assign(this, { name, groupColumns, everyUs, log: null, changes: [], changeColumns: null, result: null, version: 0 });
    this.count = kind === "select" ? new RowCount() : null;
    // Answers of a select are its whole result at every instant: its changes say the same in less.
    this.feeds = this.count ? ["changes"] : ["answers", "changes"];
    this.next = { answers: null, changes: null };
    this.#changed = changed;
    this.#begin(ready);
    this.#look();
  }

  /** What to watch, and from where on. */
  place() {
    const isReady = this.feeds.every((feed) => this.next[feed] !== null);
    return { query: isReady ? this.name : null, feeds: this.feeds, answers_after: this.next.answers, changes_after: this.next.changes };
  }

  /** Takes a piece that came live; what was asked for twice is taken once, what was not yet asked for not. */
  take(feed, { columns, rows, next, missed }) {
    const known = this.next[feed];
    if (known === null || next <= known) return;
    if (missed && feed === "changes") this.count?.miss();
    this.#add(feed, columns, rows.slice(Math.max(0, rows.length - (next - known))), next);
  }

  #add(feed, columns, fresh, next) {
    this.next[feed] = next;
    if (feed === "answers") this.#takeAnswers(columns, fresh);
    else this.#takeChanges(columns, fresh, next);
    this.version += 1;
    this.#changed();
  }

  close() {
    this.#stop.abort();
    clearTimeout(this.#timer);
  }

  async #begin(ready) {
    try {
      if (!this.count) await this.#fetch("answers", FIRST_ROWS);
      await this.#fetch("changes", this.count ? FIRST_ROWS : FIRST_CHANGES);
    } catch (error) {
      if (error.name === "AbortError") return;
      // The server is away, or the query is gone: what there is comes with the connection.
      for (const feed of this.feeds) this.next[feed] ??= 0;
    }
    ready();
  }

  async #fetch(feed, last) {
    const { columns, rows, next } = await this.#get(feed, { last });
    this.#add(feed, columns, rows, next);
  }

  // Results are no feed: they are looked at, as often as one can read.
  async #look() {
    try {
      this.result = await this.#get("result");
      if (!this.result.truncated && this.result.at_us !== null) this.count?.note(this.result.at_us, this.result.rows.length);
      this.#changed();
    } catch (error) {
      if (error.name === "AbortError") return;
    }
    this.#timer = setTimeout(() => this.#look(), RESULT_MS);
  }

  #get(what, parameters) {
    return get(address(["queries", this.name, what], parameters), this.#stop.signal);
  }

  #takeAnswers(columns, rows) {
    this.log ??= new AnswerLog(columns, this.groupColumns, this.everyUs);
    this.log.append(rows);
  }

  // The newest first, each with its number.
  #takeChanges(columns, rows, next) {
    this.changeColumns = columns;
    if (this.count) this.log = this.count.append(rows, next);
    else this.log?.noteChanges(columns, rows);
    const newest = rows.slice(-CHANGES_LIMIT);
    const numbered = newest.map((row, place) => [next - newest.length + place, row]).reverse();
    this.changes = [...numbered, ...this.changes].slice(0, CHANGES_LIMIT);
  }
}
