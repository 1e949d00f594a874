// What is wrong, above all views: rows that were not taken, queries that failed, with what to do about it.
import { html } from "../vendor/preact.js";
import { count, counted, percent } from "../shown/numbers.js";
import { hrefOf } from "../route.js";

// Of each place in the ledger where a row is lost: how bad that is, what it means, and the remedy.
const LOSSES = [
  ["rejected", "bad", "were refused: they did not fit into memory, or could not be read", "give more memory (--memory), use shorter windows, or give queries an ERROR that lets windows shrink"],
  ["bad_value", "bad", "have a value that their column cannot hold, and were set aside", "fix the source, or declare the column with a wider type"],
  ["bad_time", "bad", "have no time, or an implausible one, and were set aside", "fix the source, or name another column as TIME"],
  ["late", "warn", "arrived after the watermark, and were set aside", "give the stream a larger LATENESS"],
];

export function Trouble({ session, streams, queries }) {
  const troubles = troublesOf(session, streams ?? [], queries ?? []);
  if (!troubles.length) return null;
  const isBad = troubles.some(({ tone }) => tone === "bad");
  // The heading is read aloud once; figures that grow are not read again and again.
  return html`<section class=${`banner trouble ${isBad ? "bad" : "warn"}`} aria-labelledby="trouble-head">
    <strong id="trouble-head" role="alert">${isBad ? "Answers may lack rows, or have stopped." : "Some rows were set aside."}</strong>
    <ul>${troubles.map(({ key, said, remedy }) => html`<li key=${key}>${said}${remedy && html` <span class="remedy">${sentence(remedy)}</span>`}</li>`)}</ul>
  </section>`;
}

function troublesOf(session, streams, queries) {
  const rows = streams.flatMap((stream) => LOSSES.filter(([place]) => stream.ledger[place] > 0).map((loss) => lossOf(stream, loss, session?.error)));
  const lacking = queries.filter(({ level }) => level === "incomplete");
  const failed = queries.filter(({ state }) => state === "failed");
  const troubles = [...rows.filter(({ tone }) => tone === "bad")];
  if (lacking.length) troubles.push({ key: "lacking", tone: "bad", said: html`Answers of ${links(lacking)} lack rows that were refused.` });
  if (session?.error && !troubles.some(({ isTold }) => isTold)) troubles.push(problemOf(session));
  if (failed.length) troubles.push({ key: "failed", tone: "bad", said: html`${links(failed)} failed.`, remedy: "the query says why" });
  return [...troubles, ...rows.filter(({ tone }) => tone === "warn")];
}

function lossOf({ name, ledger }, [place, tone, what, remedy], error) {
  // What the session said when it refused rows knows the figures that would have been enough.
  const isTold = place === "rejected" && Boolean(error);
  const [lost, share] = [ledger[place], percent(ledger[place] / Math.max(1, ledger.rows_in))];
  const words = isTold ? `were refused: ${error.message}` : what;
  const said = html`<b class="numbers">${count(lost)}</b> of ${counted(ledger.rows_in, "row")} of <a href=${hrefOf("streams", name)}>${name}</a> (${share}) ${words}.`;
  return { key: `${name} ${place}`, tone, said, remedy: (isTold && error.hint) || remedy, isTold };
}

function problemOf({ error, errors }) {
  const times = errors > 1 ? ` (the latest of ${count(errors)})` : "";
  return { key: "session", tone: "bad", said: html`${sentence(error.message)}${times}`, remedy: error.hint };
}

function links(queries) {
  return queries.map(({ name }, place) => html`${place > 0 ? ", " : ""}<a href=${hrefOf("queries", name)} key=${name}>${name}</a>`);
}

// Messages of errors begin with a small letter and have no full stop.
function sentence(text) {
  const first = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
