// The change feed, newest first: +1 for a row that came, −1 for one that went.
import { html } from "../vendor/preact.js";
import { CHANGES_LIMIT } from "../server/watched.js";
import { clock, instant } from "../shown/times.js";
import { Cell, side } from "./table.js";

const SHOWN = 100;
const LEAD = 2; // at, change

export function ChangeFeed({ columns, changes }) {
  if (!changes.length) return html`<p class="empty">No changes yet. Every row that is added to the result or retracted will appear here.</p>`;
  const selected = columns.slice(LEAD);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Changes, newest first">
    <table class="feed"><thead><tr><th scope="col">at</th><th scope="col">change</th>
      ${selected.map(({ name, type }) => html`<th scope="col" class=${side(type)} title=${type}>${name}</th>`)}</tr></thead>
    <tbody>${changes.slice(0, SHOWN).map(([number, row]) => html`<${Change} row=${row} columns=${selected} key=${number} />`)}</tbody></table>
    <p class="muted small">The newest ${SHOWN} are shown; the page keeps ${CHANGES_LIMIT}, the server more.</p>
  </div>`;
}

function Change({ row, columns }) {
  const [at, change, ...values] = row;
  return html`<tr class=${change > 0 ? "came" : "went"}><td class="instant" title=${`${instant(at)} UTC`}>${clock(at)}</td>
    <td class="change">${change > 0 ? `+${change}` : `−${-change}`}</td>
    ${values.map((value, place) => html`<${Cell} value=${value} type=${columns[place]?.type} />`)}</tr>`;
}
