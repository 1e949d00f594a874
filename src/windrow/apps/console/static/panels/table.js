// Rows as a table. Values are text, whatever they hold.
import { html, useState } from "../vendor/preact.js";
import { isInstant, isNumber, shown } from "../shown/values.js";
import { count } from "../shown/numbers.js";

const FIRST_ROWS = 100;

export function Table({ columns, rows, label, isTruncated }) {
  const [limit, setLimit] = useState(FIRST_ROWS);
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>
    <table>
      <thead><tr>${columns.map(({ name, type }) => html`<th scope="col" class=${side(type)} title=${type}>${name}</th>`)}</tr></thead>
      <tbody>${rows.slice(0, limit).map((row) => html`<tr>${row.map((value, place) => html`<${Cell} value=${value} type=${columns[place]?.type} />`)}</tr>`)}</tbody>
    </table>
    ${rows.length > limit && html`<button type="button" class="quiet" onClick=${() => setLimit(limit + 500)}>Show more of ${count(rows.length)} rows</button>`}
    ${isTruncated && rows.length <= limit && html`<p class="muted small">There are more rows than this page receives.</p>`}
  </div>`;
}

export function Cell({ value, type }) {
  const isNull = value === null || value === undefined;
  return html`<td class=${isNull ? `null ${side(type)}` : side(type)}>${shown(value, type)}</td>`;
}

/** Numbers stand to the right, the rest to the left. */
export function side(type) {
  return isNumber(type) ? "number" : isInstant(type) ? "instant" : "";
}
