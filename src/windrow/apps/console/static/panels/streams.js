// The row ledger: every row that came in is somewhere, and the sums say so.
import { html } from "../vendor/preact.js";
import { count, percent, rate } from "../shown/numbers.js";
import { instant, span } from "../shown/times.js";
import { setAside } from "./stream_list.js";

const PLACES = [
  ["applied", "in the windows and histories, or through them"],
  ["late", "came after the watermark"],
  ["bad_time", "have no time, or an absurd one"],
  ["bad_value", "have a value that cannot be held"],
  ["rejected", "there was no room in the budget"],
  ["waiting", "ahead of the watermark"],
];

export function Streams({ streams, chosen }) {
  if (streams === null) return null;
  if (!streams.length) {
    return html`<section class="panel"><h2>No streams yet</h2><p class="empty">Declare one where the session lives, and push rows into it:</p>
      <pre class="plan" tabindex="0">session.stream("temp", "location string, ts timestamp, celsius double", time="ts")${"\n"}session.push("temp", rows)</pre></section>`;
  }
  return html`<section class="panel" aria-labelledby="ledger-head">
      <div class="panel-head"><h2 id="ledger-head">Row ledger</h2><span class="muted">rows in = applied + late + bad time + bad value + rejected + waiting</span></div>
      <div class="scroll" tabindex="0" role="region" aria-label="Row ledger"><table>
        <thead><tr><th scope="col">stream</th><th scope="col" class="number">rows in</th>${PLACES.map(([key, why]) => html`<th scope="col" class="number" title=${why}>${key.replace("_", " ")}</th>`)}
          <th scope="col">adds up</th><th scope="col" class="number">rate</th><th scope="col">watermark (UTC)</th><th scope="col">lateness</th></tr></thead>
        <tbody>${streams.map((stream) => html`<${Row} stream=${stream} isChosen=${stream.name === chosen} key=${stream.name} />`)}</tbody></table></div>
    </section>
    <div class="cards">${streams.map((stream) => html`<${Card} stream=${stream} isChosen=${stream.name === chosen} key=${stream.name} />`)}</div>`;
}

function Row({ stream, isChosen }) {
  const { ledger } = stream;
  const difference = ledger.rows_in - PLACES.reduce((sum, [key]) => sum + ledger[key], 0);
  return html`<tr class=${isChosen ? "chosen" : ""}><th scope="row" class="name">${stream.name}</th><td class="number">${count(ledger.rows_in)}</td>
    ${PLACES.map(([key]) => html`<td class=${`number ${ledger[key] && key !== "applied" && key !== "waiting" ? "warn" : ""}`}>${count(ledger[key])}</td>`)}
    <td>${difference === 0 ? html`<span class="good">yes</span>` : html`<span class="bad">off by ${count(difference)}</span>`}</td>
    <td class="number">${rate(stream.rate)}</td><td class="instant">${instant(stream.watermark_us).slice(0, 23)}</td><td class="numbers">${span(stream.lateness_us)}</td></tr>`;
}

function Card({ stream, isChosen }) {
  const { ledger } = stream;
  const total = Math.max(1, ledger.rows_in);
  return html`<section class=${`panel card ${isChosen ? "chosen" : ""}`} aria-label=${`Stream ${stream.name}`}>
    <div class="panel-head"><h3 class="name">${stream.name}</h3><span class="muted small">${percent(setAside(stream) / total)} set aside</span></div>
    <div class="stack" role="img" aria-label=${PLACES.map(([key]) => `${key} ${ledger[key]}`).join(", ")}>
      ${PLACES.map(([key]) => html`<i class=${`ledger-${key}`} title=${`${key}: ${count(ledger[key])}`} style=${{ width: `${(100 * ledger[key]) / total}%` }}></i>`)}</div>
    <table class="plain"><tbody>${stream.columns.map(({ name, type }) => html`<tr><th scope="row" class="name">${name}</th><td class="muted">${type}${name === stream.time ? ", event time" : ""}</td></tr>`)}</tbody></table>
  </section>`;
}
