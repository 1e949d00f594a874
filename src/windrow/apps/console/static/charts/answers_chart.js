// Answers over time: a line for each group, the error that they can have as a band around it.
import { html, useMemo, useRef, useState } from "../vendor/preact.js";
import { count } from "../shown/numbers.js";
import { about, span } from "../shown/times.js";
import { useTheme } from "../shown/theme.js";
import { colours, faded } from "./colours.js";
import { DRAWN_LIMIT, useDrawnLines } from "./drawn_lines.js";
import { gapsWhere, wasGone } from "./gaps.js";
import { LineChart } from "./line_chart.js";
import { thinned } from "./thinning.js";

const SLICES = 400;
const SPANS_S = [60, 300, 900, 3600, 21600];

export function AnswersChart({ log, version, name }) {
  const [measure, setMeasure] = useState(0);
  const [shownS, setShownS] = useState(null);
  const theme = useTheme();
  const palette = useMemo(colours, [theme]);
  const drawing = useDrawnLines(log, measure);
  const { lines } = drawing;
  const range = rangeOf(log, shownS);
  // A canvas draws thin lines many times faster; where points are dense, none is missed.
  const width = log.size > 2 * SLICES ? 1 : 1.5;
  const shape = [log.hasBounds, measure, width, ...lines.map(({ line, slot }) => `${slot} ${line.label}`)].join("|");
  const data = useMemo(
    () => thinned(log, lines.map(({ line }) => line), measure, range[0], range[1], SLICES, log.hasBounds),
    [log, version, shape, shownS],
  );
  const drawn = useRef(data);
  drawn.current = data;
  return html`<figure class="answers-chart">
    <figcaption class="chart-head">
      <${Measures} measures=${log.measures} chosen=${measure} choose=${setMeasure} />
      <${Spans} log=${log} chosen=${shownS} choose=${setShownS} />
      <span class="muted">${log.hasBounds ? "UTC; band: the error that an answer can have" : "UTC"}</span>
    </figcaption>
    <${LineChart} shape=${shape} series=${seriesOf(log, lines, measure, width, palette, drawn)} bands=${log.hasBounds ? bandsOf(lines, palette) : []} data=${data} range=${range} height=${260}
      label=${`Answers of ${name} over time: ${count(log.size)} instants, ${lines.length} lines`} />
    ${log.groupPlaces.length > 0 && html`<${Legend} log=${log} drawing=${drawing} palette=${palette} />`}
  </figure>`;
}

function Measures({ measures, chosen, choose }) {
  if (measures.length < 2) return html`<strong class="measure">${measures[0].name}</strong>`;
  return html`<label class="inline"><span class="hidden">column</span>
    <select value=${chosen} onChange=${(event) => choose(Number(event.target.value))}>
      ${measures.map((each, place) => html`<option value=${place}>${each.name}</option>`)}
    </select></label>`;
}

function Spans({ log, chosen, choose }) {
  const known = log.seconds[log.size - 1] - log.seconds[0];
  return html`<label class="inline">last
    <select value=${chosen ?? ""} onChange=${(event) => choose(event.target.value ? Number(event.target.value) : null)}>
      ${SPANS_S.filter((each) => each < known).map((each) => html`<option value=${each}>${span(each * 1e6)}</option>`)}
      <option value="">all (${about(known * 1e6)})</option>
    </select></label>`;
}

function Legend({ log, drawing, palette }) {
  const slots = new Map(drawing.lines.map(({ line, slot }) => [line.label, slot]));
  const isFull = slots.size >= DRAWN_LIMIT;
  return html`<div class="legend" role="group" aria-label="Groups that are drawn">
    ${log.lines.map(({ label }) => html`
      <button type="button" class="legend-item" aria-pressed=${slots.has(label)} disabled=${isFull && !slots.has(label)} onClick=${() => drawing.toggle(label)} key=${label}>
        <i class="swatch" style=${{ background: slots.has(label) ? palette.series[slots.get(label)] : palette.line }}></i>${label}
      </button>`)}
    ${drawing.isPicked && html`<button type="button" class="legend-item quiet" onClick=${drawing.reset}>highest ${DRAWN_LIMIT}</button>`}
    ${log.untold.size > 0 && html`<span class="muted">and ${count(log.untold.size)} more groups, in the table only</span>`}
  </div>`;
}

function rangeOf(log, shownS) {
  const [first, last] = [log.seconds[0], log.seconds[log.size - 1]];
  return [shownS === null ? first : Math.max(first, last - shownS), Math.max(last, first + 1)];
}

function seriesOf(log, lines, measure, width, palette, drawn) {
  return lines.flatMap(({ line, slot }) => {
    const gaps = gapsWhere((place, next) => wasGone(line, drawn.current[0][place], drawn.current[0][next], drawn.current.slice_s));
    const value = { label: line.label || log.measures[measure].name, stroke: palette.series[slot], width, gaps, points: { size: 4 } };
    const border = { stroke: "transparent", width: 0, gaps, points: { show: false } };
    return log.hasBounds ? [value, border, border] : [value];
  });
}

function bandsOf(lines, palette) {
  return lines.map(({ slot }, place) => ({ series: [3 * place + 3, 3 * place + 2], fill: faded(palette.series[slot], 0.18) }));
}
