// The past of a stream: a chart that asks for finer grain when one zooms in, and the tree behind it.
import { html, useEffect, useState } from "../vendor/preact.js";
import { HistoryChart, STATISTICS } from "../charts/history_chart.js";
import { written } from "../editor/words.js";
import { useFollowed } from "../server/followed.js";
import { post } from "../server/requests.js";
import { go } from "../route.js";
import { bytes } from "../shown/numbers.js";
import { instant, span } from "../shown/times.js";
import { shown } from "../shown/values.js";
import { Tree } from "./tree.js";

const GROUPS_LIMIT = 200;

export function History({ chosen }) {
  const [histories, problem] = useFollowed("histories", "histories");
  if (problem) return html`<section class="panel"><p class="empty">${problem}</p></section>`;
  if (histories === null) return null;
  if (!histories.length) return html`<${NoHistory} />`;
  const history = histories.find(({ stream }) => stream === chosen) ?? histories[0];
  return html`<${One} history=${history} histories=${histories} key=${history.stream} />`;
}

function One({ history, histories }) {
  const [measure, setMeasure] = useState(history.measures[0] ?? null);
  const [statistic, setStatistic] = useState(history.measures.length ? "mean" : "count");
  const groups = useGroups(history);
  const [place, setPlace] = useState("");
  const group = groups[place]?.map(String) ?? null;
  const [zooms, setZooms] = useState([]);
  const zoom = zooms.at(-1) ?? null;
  const drill = (from, to) => setZooms([...zooms, [from, to]]);
  return html`<section class="panel" aria-labelledby="history-head">
      <div class="panel-head"><h2 id="history-head">History</h2>
        <${Choice} label="stream" value=${history.stream} options=${histories.map(({ stream }) => [stream, stream])} choose=${(stream) => go("history", stream)} />
        <${Choice} label="measure" value=${measure} options=${history.measures.map((each) => [each, each])} choose=${setMeasure} />
        <${Choice} label="show" value=${statistic} options=${STATISTICS.map((each) => [each, each])} choose=${setStatistic} />
        ${groups.length > 0 && html`<${Choice} label=${history.by.join(", ")} value=${place} choose=${setPlace}
          options=${[["", "all"], ...groups.map((each, index) => [String(index), each.map((value) => shown(value)).join(", ")])]} />`}
        <span class="spring"></span><span class="muted numbers">${bytes(history.bytes)}</span></div>
      <${Trail} history=${history} zooms=${zooms} setZooms=${setZooms} />
      <${HistoryChart} history=${history} measure=${measure} statistic=${statistic} group=${group} zoom=${zoom} drill=${drill} out=${() => setZooms(zooms.slice(0, -1))} />
    </section>
    <${Tree} history=${history} zoom=${zoom} />`;
}

// The groups that the history knows, asked once it has rows.
function useGroups({ stream, by, rows }) {
  const [groups, setGroups] = useState([]);
  useEffect(() => {
    if (!by.length || !rows) return;
    const names = by.map(written).join(", ");
    const text = `SELECT ${names}, COUNT(*) AS n FROM HISTORY(${written(stream)}) [FROM '1970-01-01' TO NOW] GROUP BY ${names}`;
    post("ask", { text }).then(
      ({ rows }) => setGroups(rows.slice(0, GROUPS_LIMIT).map((row) => row.slice(0, by.length)).filter((group) => !group.includes(null))),
      () => {}, // Without them all groups are shown together.
    );
  }, [stream, rows > 0]);
  return groups;
}

// Where one is: the whole, and each interval that was zoomed into.
function Trail({ history, zooms, setZooms }) {
  return html`<nav class="trail" aria-label="Zoom"><button type="button" class="quiet" disabled=${!zooms.length} onClick=${() => setZooms([])}>All</button>
    ${zooms.map(([from, to], place) => html`<span aria-hidden="true">›</span><button type="button" class="quiet numbers" disabled=${place === zooms.length - 1}
      onClick=${() => setZooms(zooms.slice(0, place + 1))}>${instant(from).slice(0, 19)} – ${instant(to).slice(11, 19)}</button>`)}
    <span class="spring"></span><span class="muted small">${history.levels.map((each) => `${span(each.grain_us)} for ${each.kept_us === null ? "ever" : span(each.kept_us)}`).join(", ")}</span></nav>`;
}

function Choice({ label, value, options, choose }) {
  if (!options.length) return null;
  return html`<label class="inline">${label} <select value=${value} onChange=${(event) => choose(event.target.value)}>
    ${options.map(([key, text]) => html`<option value=${key}>${text}</option>`)}</select></label>`;
}

function NoHistory() {
  return html`<section class="panel"><h2>No history is kept</h2>
    <p class="empty">A window forgets what has left it; a history keeps its aggregates, fine-grained for the recent past and coarser with age. Declare one before rows arrive:</p>
    <pre class="plan" tabindex="0">session.history("temp", measures=["celsius"], by=["location"],${"\n"}    levels=[("1 second", "10 minutes"), ("1 minute", "1 day"), ("1 hour", "forever")])</pre>
    <p class="empty">or in a script: <code>CREATE HISTORY ON temp (celsius) GROUP BY location LEVELS (1 SECOND FOR 10 MINUTES, 1 MINUTE FOR 1 DAY);</code></p></section>`;
}
