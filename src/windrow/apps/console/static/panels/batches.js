// Batches on Spark: how each query is getting on, how long each batch took, how large the state is.
import { html, useMemo } from "../vendor/preact.js";
import { LineChart } from "../charts/line_chart.js";
import { colours } from "../charts/colours.js";
import { useTheme } from "../shown/theme.js";
import { bytes, count, figure } from "../shown/numbers.js";
import { about, clock } from "../shown/times.js";

const SHOWN = 100;

function part(ratio) {
  return ratio === null ? "–" : `${Math.round(ratio * 100)} %`;
}

function took(ms) {
  return ms === null ? "–" : about(ms * 1000);
}

function Operations({ operations }) {
  return html`<h3>Queries and histories, over their latest batches</h3>
    <div class="scroll" tabindex="0" role="region" aria-label="Operations"><table>
      <thead><tr><th scope="col">query</th><th scope="col" class="number">a batch</th><th scope="col" class="number">95 % within</th>
        <th scope="col" class="number">arrival to sink, 95 %</th><th scope="col" class="number">age of answers, 95 %</th><th scope="col" class="number">busy</th>
        <th scope="col" class="number">waiting</th><th scope="col" class="number">fullest bucket</th><th scope="col" class="number">state</th><th scope="col" class="number">restarts</th></tr></thead>
      <tbody>${operations.map((each) => html`<tr key=${each.query}><td class="name">${each.query}</td>
        <td class="number">${took(each.batch_p50_ms)}</td><td class="number">${took(each.batch_p95_ms)}</td>
        <td class="number">${took(each.arrival_p95_ms)}</td><td class="number">${took(each.event_p95_ms)}</td><td class="number">${part(each.busy)}</td>
        <td class="number">${each.behind === null ? "–" : count(each.behind)}</td><td class="number">${each.skew === null ? "–" : `${figure(each.skew)} × median`}</td>
        <td class="number">${bytes(each.state_bytes)}</td><td class="number">${count(each.restarts)}</td></tr>`)}</tbody></table></div>`;
}

export function Batches({ batches, operations }) {
  const theme = useTheme();
  const palette = useMemo(colours, [theme]);
  if (!batches?.length) {
    return html`<section class="panel"><h2>No batches yet</h2><p class="empty">Spark runs a batch when a query has been started and its sources have rows.</p></section>`;
  }
  const ordered = [...batches].sort((a, b) => a.at_us - b.at_us);
  const at = ordered.map((each) => each.at_us / 1e6);
  const range = [at[0], Math.max(at.at(-1), at[0] + 1)];
  const names = [...new Set(ordered.map(({ query }) => query ?? ""))].sort();
  const lines = { shape: names.join("|"), range, bands: [], series: names.map((name, place) => ({ label: name, stroke: palette.series[place % palette.series.length], width: 1.5, points: { size: 4 } })) };
  // Batches of the others are no gaps in a line: undefined is passed over, null is a gap.
  const linesOf = (value) => [at, ...names.map((name) => ordered.map((each) => ((each.query ?? "") === name ? value(each) : undefined)))];
  return html`<section class="panel" aria-labelledby="batches-head">
    <div class="panel-head"><h2 id="batches-head">Batches and state on Spark</h2></div>
    ${operations?.length ? html`<${Operations} operations=${operations} />` : null}
    <h3>Time of a batch, ms</h3>
    <${LineChart} ...${lines} label="Milliseconds of each batch" height=${150} isLogarithmic=${true} data=${linesOf((each) => Math.max(1, each.ms))} />
    <h3>State, MB</h3>
    <${LineChart} ...${lines} label="State after each batch in megabytes" height=${140} data=${linesOf((each) => (each.state_bytes === null ? null : each.state_bytes / 1048576))} />
    ${names.length > 1 && html`<ul class="legend" aria-label="Operators">${names.map((name, place) => html`<li class="legend-item"><i class="swatch" style=${{ background: palette.series[place % palette.series.length] }}></i>${name}</li>`)}</ul>`}
    <div class="scroll" tabindex="0" role="region" aria-label="Batches"><table>
      <thead><tr><th scope="col">ended (UTC)</th><th scope="col">query</th><th scope="col" class="number">batch</th><th scope="col" class="number">rows</th><th scope="col" class="number">took</th>
        <th scope="col" class="number">rows a second</th><th scope="col" class="number">state</th></tr></thead>
      <tbody>${ordered.slice(-SHOWN).reverse().map((each) => html`<tr key=${`${each.query} ${each.id}`}><td class="instant">${clock(each.at_us).slice(0, 8)}</td><td class="name">${each.query ?? ""}</td>
        <td class="number">${each.id}</td><td class="number">${count(each.rows)}</td><td class="number">${about(each.ms * 1000)}</td>
        <td class="number">${each.ms ? figure(Math.round((each.rows * 1000) / each.ms)) : "–"}</td><td class="number">${bytes(each.state_bytes)}</td></tr>`)}</tbody></table></div>
  </section>`;
}
