// Streams at the side: how far each is, and whether rows were set aside.
import { html } from "../vendor/preact.js";
import { count, rate } from "../shown/numbers.js";
import { clock } from "../shown/times.js";
import { hrefOf } from "../route.js";

export function StreamList({ streams }) {
  return html`<section class="list" aria-labelledby="streams-head">
    <h2 id="streams-head">Streams ${streams?.length ? html`<span class="count">${streams.length}</span>` : ""}</h2>
    ${streams?.length === 0 && html`<p class="empty">None declared. In Python: <code>session.stream("temp", schema, time="ts")</code></p>`}
    <ul>${streams?.map((stream) => html`<li key=${stream.name}><a href=${hrefOf("streams", stream.name)}>
      <span class="item-name"><span class="name">${stream.name}</span>${setAside(stream) > 0 && html`<span class="warn small">${count(setAside(stream))} set aside</span>`}</span>
      <span class="item-facts numbers"><span>to ${stream.watermark_us === null ? "–" : clock(stream.watermark_us).slice(0, 8)}</span><span>${rate(stream.rate)}</span></span>
    </a></li>`)}</ul>
  </section>`;
}

/** Rows that came and were not taken. */
export function setAside({ ledger }) {
  return ledger.late + ledger.bad_time + ledger.bad_value + ledger.rejected;
}
