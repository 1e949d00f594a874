// One query: how it stands, its answers over time, what it says now, what changed, how it runs.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { AnswersChart } from "../charts/answers_chart.js";
import { replaceDraft } from "../editor/draft.js";
import { address, get, remove } from "../server/requests.js";
import { bytes, count, counted, rate } from "../shown/numbers.js";
import { about, instant } from "../shown/times.js";
import { ChangeFeed } from "./change_feed.js";
import { LEVELS, Level, tone } from "./query_list.js";
import { Table } from "./table.js";
import { Tabs } from "./tabs.js";

export function QueryView({ query, name, isHeard, watched, isReadOnly }) {
  const [tab, setTab] = useState("now");
  if (!isHeard) return html`<section class="panel"><p class="empty" role="status">Waiting for the server …</p></section>`;
  if (query === null) return html`<${Welcome} name=${name} />`;
  const isWatched = watched?.name === query.name;
  const log = isWatched ? watched.log : null;
  return html`<section class="panel query" aria-labelledby="query-head">
    <div class="panel-head"><h2 id="query-head" class="name">${query.name}</h2><${Level} level=${query.level} />
      <span class=${`state ${tone(query.state)}`}><i class="dot" aria-hidden="true"></i>${query.state}</span>
      <span class="spring"></span>
      ${!isReadOnly && html`<span class="actions"><button type="button" onClick=${() => replaceDraft(query.text)}>Edit a copy</button>
        ${query.state === "running" && html`<${Stop} name=${query.name} />`}</span>`}</div>
    <${Facts} query=${query} />
    ${query.error && html`<div class="verdict problem" role="alert"><p><strong>${query.error.message}</strong></p><p>${query.error.hint}</p></div>`}
    <${Chart} query=${query} log=${log} version=${watched?.version} />
    <${Tabs} label="Of this query" chosen=${tab} choose=${setTab} tabs=${[["now", "Result now"], ["changes", "Changes"], ["plan", "Text and plan"]]}>
      ${tab === "now" && html`<${Now} result=${isWatched ? watched.result : null} />`}
      ${tab === "changes" && html`<${ChangeFeed} columns=${watched?.changeColumns} changes=${isWatched ? watched.changes : []} />`}
      ${tab === "plan" && html`<${Plan} query=${query} />`}
    </${Tabs}>
  </section>`;
}

function Facts({ query }) {
  const facts = [
    ["clock", query.clock_us === null ? "–" : `${instant(query.clock_us).slice(0, 19)} UTC`],
    ["lag", about(query.lag_us)],
    ["answers", `${count(query.answers)}, ${rate(query.rate)}`],
    ["memory", bytes(query.bytes)],
    ["kept by", query.algorithm ?? query.kind],
    ["level", query.level ? LEVELS[query.level].replace(/^[^:]+: /, "") : "–"],
  ];
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd class="numbers">${value}</dd></div>`)}</dl>`;
}

function Chart({ query, log, version }) {
  if (log?.measures.length && log.size) return html`<${AnswersChart} log=${log} version=${version} name=${query.name} key=${query.name} />`;
  if (log && !log.measures.length) return html`<p class="empty">No column of this answer is a number that could be drawn.</p>`;
  return html`<p class="empty chart-empty">No answers yet. They appear when every stream of the query is complete through their instant: new rows, or a heartbeat, advance it.</p>`;
}

function Now({ result }) {
  if (result === null) return html`<p class="empty">No data yet.</p>`;
  if (!result.rows.length) return html`<p class="empty">The result has no rows at ${instant(result.at_us).slice(0, 19)} UTC.</p>`;
  return html`<p class="muted small numbers">At ${instant(result.at_us)} UTC, ${counted(result.rows.length, "row")}${result.truncated ? ", cut" : ""}</p>
    <${Table} columns=${result.columns} rows=${result.rows} label="Result now" isTruncated=${result.truncated} />`;
}

function Plan({ query }) {
  const [plan, setPlan] = useState(null);
  useEffect(() => {
    const stop = new AbortController();
    get(address(["queries", query.name]), stop.signal).then(
      ({ explain }) => setPlan(explain),
      (error) => error.name !== "AbortError" && setPlan(error.message),
    );
    return () => stop.abort();
  }, [query.name]);
  return html`<div class="text-and-plan"><pre class="plan" tabindex="0" aria-label="Text">${query.text}</pre>
    <pre class="plan" tabindex="0" aria-label="Plan">${plan ?? "…"}</pre></div>`;
}

// Asks once more, in place: what a query has gathered is gone when it stops.
function Stop({ name }) {
  const [isAsking, setAsking] = useState(false);
  const [refused, setRefused] = useState(null);
  const button = useRef(null);
  const hasAsked = useRef(false);
  // The focus goes to what was asked, and back.
  useLayoutEffect(() => {
    if (isAsking || hasAsked.current) button.current?.focus();
    hasAsked.current = isAsking;
  }, [isAsking]);
  const stop = () => remove(address(["queries", name])).catch((error) => setRefused(error.message)).finally(() => setAsking(false));
  if (!isAsking) return html`<button type="button" ref=${button} onClick=${() => setAsking(true)}>Stop</button>${refused && html`<span class="bad" role="alert">${refused}</span>`}`;
  return html`<span class="confirm" role="group" aria-label="Stop this query?" onKeyDown=${(event) => event.key === "Escape" && setAsking(false)}>
    <button type="button" class="danger" ref=${button} onClick=${stop}>Stop it for good</button>
    <button type="button" onClick=${() => setAsking(false)}>Keep</button></span>`;
}

function Welcome({ name }) {
  if (name !== null) return html`<section class="panel"><p class="empty">There is no query named ${name}. It may have been stopped long ago.</p></section>`;
  return html`<section class="panel"><h2>No query runs yet</h2>
    <p class="empty">Take an example above, or write a query, and press Run. Its answers are drawn here as they come, each true at its instant.</p></section>`;
}
