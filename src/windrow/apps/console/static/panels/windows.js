// Windows: how wide each is against what was asked, what it takes of the budget, and its turns.
import { html } from "../vendor/preact.js";
import { bytes, count, percent, rate } from "../shown/numbers.js";
import { about } from "../shown/times.js";
import { Decisions } from "./decisions.js";
import { Level } from "./query_list.js";
import { Turns } from "./turns.js";

export function Windows({ windows, widths }) {
  if (windows === null) return null;
  const sorted = [...windows.windows].sort((a, b) => b.bytes - a.bytes);
  return html`<section class="panel" aria-labelledby="windows-head">
      <div class="panel-head"><h2 id="windows-head">Windows</h2>
        <span class="muted">rows in memory, shared by the queries that read them</span></div>
      <${Budget} windows=${sorted} budget=${windows.budget_bytes} total=${windows.bytes} />
      ${sorted.length === 0
        ? html`<p class="empty">No window is open. Each query opens one for every stream that it reads; run one under <a href="#/queries">Queries</a>.</p>`
        : html`<${WindowTable} windows=${sorted} />`}
    </section>
    ${sorted.length > 0 && html`<${TimeLine} windows=${sorted} widths=${widths} />`}
    <${Decisions} />`;
}

function Budget({ windows, budget, total }) {
  const named = windows.reduce((sum, each) => sum + each.bytes, 0);
  const parts = [...windows.map((each) => [each.window, each.bytes]), ["keys, sums and histories", Math.max(0, total - named)]];
  const most = Math.max(budget, total, 1);
  return html`<div class="budget">
    <p class="numbers"><strong>${bytes(total)}</strong> of ${bytes(budget)} <span class="muted">(${percent(total / most)})</span></p>
    <div class="stack" role="img" aria-label=${`${percent(total / most)} of the memory budget is used`}>
      ${parts.map(([name, size], place) => html`<i class=${`part part-${Math.min(place, 7)}`} title=${`${name}: ${bytes(size)}`} style=${{ width: `${(100 * size) / most}%` }}></i>`)}
    </div></div>`;
}

function WindowTable({ windows }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Windows"><table>
    <thead><tr><th scope="col">window</th><th scope="col">level</th><th scope="col" class="meter-column">width of what was asked</th><th scope="col" class="number">rows</th>
      <th scope="col" class="number">memory</th><th scope="col" class="number">rate</th><th scope="col">read by</th></tr></thead>
    <tbody>${windows.map((each) => html`<tr key=${each.window}>
      <th scope="row" class="name">${each.window}</th><td><${Level} level=${each.level} /></td>
      <td class="meter-cell"><${Width} window=${each} /></td><td class="number">${count(each.rows)}</td><td class="number">${bytes(each.bytes)}</td>
      <td class="number">${rate(each.rate)}</td><td class="names">${each.queries.join(", ")}</td></tr>`)}</tbody></table></div>`;
}

function Width({ window }) {
  const { wanted_us: wanted, width_us: width } = window;
  if (wanted === null || width === null) return html`<span class="muted">${wanted === null ? "unbounded, or counted in rows" : about(wanted)}</span>`;
  const share = wanted ? Math.min(1, width / wanted) : 1;
  return html`<span class="bar-and-text"><span class="bar" role="img" aria-label=${`${percent(share)} of the wanted width`}>
    <i class=${share < 1 ? "short" : "full"} style=${{ width: `${100 * share}%` }}></i></span>
    <span class="numbers">${about(width)} <span class="muted">of ${about(wanted)}</span></span></span>`;
}

function TimeLine({ windows, widths }) {
  return html`<section class="panel" aria-labelledby="turns-head">
    <div class="panel-head"><h2 id="turns-head">Widths over time</h2>
      <span class="muted">the line is the width, the dashes above it what was asked; shaded: a turn at being wide (level C), paler where it is still to come</span></div>
    ${windows.filter((each) => each.wanted_us).map((each) => html`<${Turns} window=${each} log=${widths.of(each.window)} key=${each.window} />`)}
  </section>`;
}
