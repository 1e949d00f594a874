// What the governor has decided lately: one line a decision, with the windows whose width it changed.
import { html, useEffect, useState } from "../vendor/preact.js";
import { get } from "../server/requests.js";
import { bytes } from "../shown/numbers.js";
import { about, clock, instant } from "../shown/times.js";
import { Level } from "./query_list.js";

const LOOK_MS = 3000;
const SHOWN = 50;

export function Decisions() {
  const [table, setTable] = useState(null);
  useEffect(() => {
    const load = () => get("decisions").then(setTable, () => {});
    load();
    const timer = setInterval(load, LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  const decisions = table ? decisionsOf(table) : [];
  if (!decisions.length) return null;
  return html`<section class="panel" aria-labelledby="decisions-head">
    <div class="panel-head"><h2 id="decisions-head">Decisions on widths</h2><span class="muted">newest first</span></div>
    <div class="scroll" tabindex="0" role="region" aria-label="Decisions on widths"><table class="decisions">
      <thead><tr><th scope="col">at</th><th scope="col">why</th><th scope="col">level</th><th scope="col">widths</th><th scope="col" class="number">needs</th></tr></thead>
      <tbody>${decisions.slice(0, SHOWN).map((each) => html`<${Decision} decision=${each} />`)}</tbody></table></div>
  </section>`;
}

// Rows of one decision stand beside each other, one for each window.
function decisionsOf({ columns, rows }) {
  const names = columns.map(({ name }) => name);
  const found = [];
  for (const row of rows) {
    const values = Object.fromEntries(names.map((name, place) => [name, row[place]]));
    const last = found.at(-1);
    if (last && last.at === values.at && last.why === values.why && !last.windows.some(({ window }) => window === values.window)) last.windows.push(values);
    else found.push({ ...values, windows: [values] });
  }
  return found.reverse();
}

function Decision({ decision }) {
  const { at, why, case: level, windows } = decision;
  const changed = windows.filter((each) => each.width_before !== each.width_after || each.turn_period !== null);
  return html`<tr><td class="instant" title=${at === null ? "" : `${instant(at)} UTC`}>${at === null ? "at the start" : clock(at).slice(0, 8)}</td><td>${why}</td>
    <td><${Level} level=${level} /></td>
    <td class="moves">${changed.length ? changed.map((each) => html`<span><${Move} window=${each} /></span>`) : html`<span class="muted">as they were</span>`}</td>
    <td class="number">${at === null ? "–" : bytes(decision.bytes)}</td></tr>`;
}

function Move({ window: { window, width_before: before, width_after: after, turn_growth: growth, turn_period: period } }) {
  const turn = period === null ? "" : `, by turns ${about(growth)} more every ${about(period)}`;
  return html`<strong class="name">${window}</strong> ${before === after ? about(after) : `${about(before)} → ${about(after)}`}${turn}`;
}
