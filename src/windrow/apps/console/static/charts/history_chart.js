// One measure of a history: the value as a line, what is certain as a band, finer when one zooms in.
import { html, useMemo } from "../vendor/preact.js";
import { useFollowed } from "../server/followed.js";
import { address } from "../server/requests.js";
import { counted } from "../shown/numbers.js";
import { span } from "../shown/times.js";
import { drawn } from "../shown/values.js";
import { useTheme } from "../shown/theme.js";
import { colours, faded } from "./colours.js";
import { LineChart } from "./line_chart.js";

const POINTS = 600;
const ZOOM = 0.5;
const PAN = 0.25;
const WITH_EXTREMES = "mean, min, max";

export const STATISTICS = ["mean", WITH_EXTREMES, "min", "max", "sum", "count"];

export function HistoryChart({ history, measure, statistic, group, zoom, drill, out }) {
  const theme = useTheme();
  const palette = useMemo(colours, [theme]);
  const path = address(["histories", history.stream, "series"], { measure, from_us: zoom?.[0], to_us: zoom?.[1], points: POINTS, group });
  const [series, problem] = useFollowed(path);
  const data = useMemo(() => series && dataOf(series, statistic), [series, statistic]);
  if (problem) return html`<p class="empty" role="status">${problem}</p>`;
  if (data === null) return html`<p class="empty chart-empty">…</p>`;
  if (!data[0].length) return html`<p class="empty chart-empty" role="status">Nothing is known about this time yet. Rows enter the history once their stream is complete through their time.</p>`;
  const range = zoom ? [zoom[0] / 1e6, zoom[1] / 1e6] : [data[0][0], Math.max(data[0].at(-1), data[0][0] + 1)];
  const onZoom = (from, to) => drill(Math.round(from * 1e6), Math.round(to * 1e6));
  const inexact = series.exact.filter((each) => !each).length;
  return html`<div class="history-chart">
    <${LineChart} shape=${`${measure} ${statistic}`} height=${280} range=${range} data=${data} onZoom=${onZoom} onKeyDown=${(event) => onKey(event, range, onZoom, out)}
      label=${`${statistic} of ${measure ?? "rows"}: ${counted(data[0].length, "point")} of ${grains(series)}. Plus and minus zoom, arrows move, Escape goes back.`}
      series=${seriesOf(statistic, palette)} bands=${bandsOf(palette)} />
    <p class="muted small chart-note"><span class="grain">grain ${grains(series)}</span>, ${counted(data[0].length, "point")}
      ${inexact ? `, ${inexact} not exact` : ", all exact"}. Drag over the chart to zoom in; <kbd>+</kbd> <kbd>−</kbd> <kbd>←</kbd> <kbd>→</kbd> <kbd>Esc</kbd> when it has the focus.
      ${statistic === WITH_EXTREMES ? " Light band: from the smallest to the largest value." : ""}${inexact ? " Darker band: where the true mean can lie." : ""}</p></div>`;
}

function onKey(event, [from, to], onZoom, out) {
  const width = to - from;
  const moves = {
    "+": () => onZoom(from + (width * (1 - ZOOM)) / 2, to - (width * (1 - ZOOM)) / 2),
    "=": () => moves["+"](),
    "-": out,
    Escape: out,
    ArrowLeft: () => onZoom(from - width * PAN, to - width * PAN),
    ArrowRight: () => onZoom(from + width * PAN, to + width * PAN),
  };
  if (!moves[event.key]) return;
  event.preventDefault();
  moves[event.key]();
}

// "1 s", or "1 s to 1 min" where the past is known more coarsely. The first and the last may be cut.
function grains({ t_us, to_us }) {
  const whole = t_us.map((us, place) => to_us[place] - us).slice(t_us.length > 2 ? 1 : 0, t_us.length > 2 ? -1 : undefined);
  const [finest, coarsest] = [Math.min(...whole), Math.max(...whole)];
  return finest === coarsest ? span(finest) : `${span(finest)} to ${span(coarsest)}`;
}

function dataOf(series, statistic) {
  const of = (values) => (values ?? []).map((value) => finite(value));
  const middle = series.t_us.map((us, place) => (us + series.to_us[place]) / 2e6);
  const none = new Array(middle.length).fill(null);
  // What is certain is said of the mean.
  const isMean = statistic === "mean" || statistic === WITH_EXTREMES;
  const extremes = statistic === WITH_EXTREMES ? [of(series.min), of(series.max)] : [none, none];
  return [middle, of(series[isMean ? "mean" : statistic]), ...extremes, ...(isMean ? [of(series.lower), of(series.upper)] : [none, none])];
}

function finite(value) {
  const number = value === null ? NaN : drawn(value);
  return Number.isFinite(number) ? number : null;
}

function seriesOf(statistic, palette) {
  const border = (label) => ({ label, stroke: "transparent", width: 0, points: { show: false } });
  return [{ label: statistic === WITH_EXTREMES ? "mean" : statistic, stroke: palette.series[0], width: 1.5, points: { size: 4 } }, border("min"), border("max"), border("lower"), border("upper")];
}

function bandsOf(palette) {
  return [
    { series: [3, 2], fill: faded(palette.series[0], 0.12) },
    { series: [5, 4], fill: faded(palette.series[1], 0.3) },
  ];
}
