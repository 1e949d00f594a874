// uPlot in a component: sized by its place, in UTC, with the theme's colours.
import { html, useLayoutEffect, useRef } from "../vendor/preact.js";
import uPlot from "../vendor/uplot.js";
import { figure } from "../shown/numbers.js";
import { axisLabels, instant } from "../shown/times.js";
import { useTheme } from "../shown/theme.js";
import { colours } from "./colours.js";

const FONT = "11px system-ui, sans-serif";

/**
 * A chart. `series` and `bands` are uPlot's and decide, with `shape`, when it is built anew; `data` is
 * drawn as it comes; `range` is [from, to] in seconds. `onZoom(from, to)` is told what was dragged over.
 */
export function LineChart({ shape, series, bands, data, range, onZoom, height, label, onKeyDown, yRange, isLogarithmic }) {
  const place = useRef(null);
  const chart = useRef(null);
  const zoom = useRef(null);
  const readout = useRef(null);
  const theme = useTheme();
  zoom.current = onZoom;
  const latest = useRef({});
  latest.current = { data, range };

  useLayoutEffect(() => {
    const width = Math.max(120, place.current.clientWidth);
    chart.current = new uPlot(options({ series, bands, width, height, latest, zoom, readout, yRange, isLogarithmic, isZoomable: Boolean(onZoom) }), data, place.current);
    return () => chart.current.destroy();
  }, [shape, theme, height, Boolean(onZoom)]);

  useLayoutEffect(() => draw(chart.current, data, range), [data, range?.[0], range?.[1]]);

  // Observed no longer than the chart is there: an effect of the other kind would end too late.
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry.contentRect.width);
      if (width > 0 && width !== chart.current.width) chart.current.setSize({ width, height });
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [height]);

  return html`<div class="chart-frame">
    <div class="chart" ref=${place} role="img" aria-label=${label} tabindex=${onKeyDown ? 0 : undefined} onKeyDown=${onKeyDown}></div>
    <p class="readout" ref=${readout} aria-hidden="true"></p>
  </div>`;
}

/** Draws the data between these seconds: one pass, no autoscale of x. */
export function draw(chart, data, range) {
  chart.batch(() => {
    chart.setData(data, false);
    const [from, to] = range ?? extent(data[0]);
    chart.setScale("x", { min: from, max: to });
  });
}

function extent(x) {
  return x.length ? [x[0], Math.max(x[x.length - 1], x[0] + 1e-3)] : [0, 1];
}

function options({ series, bands, width, height, latest, zoom, readout, yRange, isLogarithmic, isZoomable }) {
  const { text, muted, line } = colours();
  const axis = { stroke: muted, font: FONT, grid: { stroke: line, width: 1 }, ticks: { show: false } };
  return {
    width,
    height,
    padding: [10, 26, 0, 0],
    // uPlot lays out days and months by local time; this shifts them to UTC.
    tzDate: (second) => {
      const date = new Date(second * 1000);
      return new Date(date.getTime() + date.getTimezoneOffset() * 60_000);
    },
    scales: {
      x: { time: true, auto: false, range: (_, low, high) => [low, high] },
      y: isLogarithmic ? { distr: 3, range: (_, low, high) => decades(low, high) } : { range: yRange ?? ((_, low, high) => roomy(low, high)) },
    },
    axes: [
      { ...axis, space: 72, size: 34, values: (_, splits, __, ___, step) => axisLabels(splits, step) },
      { ...axis, size: widthOfLabels, values: (_, splits) => splits.map((value) => (value === null ? "" : figure(value))) },
    ],
    series: [{}, ...series],
    bands,
    legend: { show: false },
    cursor: {
      y: false,
      points: { size: 6 },
      drag: { x: isZoomable, y: false, setScale: false },
      focus: { prox: 24 },
    },
    select: { show: isZoomable },
    hooks: {
      setSelect: [
        (plot) => {
          if (!plot.select.width) return;
          const [from, to] = [plot.posToVal(plot.select.left, "x"), plot.posToVal(plot.select.left + plot.select.width, "x")];
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          zoom.current?.(from, to);
        },
      ],
      setCursor: [(plot) => readAt(plot, readout.current, text)],
    },
    focus: { alpha: 0.35 },
  };
}

function roomy(low, high) {
  if (low === null || low === undefined || high === null) return [0, 1];
  if (low === high) {
    const room = Math.abs(low) * 0.1 || 1;
    return [low >= 0 ? Math.max(0, low - room) : low - room, high + room];
  }
  const room = (high - low) * 0.08;
  const floor = low >= 0 && low < (high - low) * 0.5 ? 0 : low - room;
  return [floor, high + room];
}

function widthOfLabels(_, values) {
  const longest = (values ?? []).reduce((most, each) => Math.max(most, each.length), 0);
  return Math.max(36, 14 + longest * 6.5);
}

// What lies under the pointer, as text beneath the chart.
function readAt(plot, element) {
  if (!element) return;
  const place = plot.cursor.idx;
  if (place === null || place === undefined || plot.cursor.left < 0) {
    element.textContent = "";
    return;
  }
  const parts = plot.series.slice(1).map((each, index) => {
    const value = plot.data[index + 1][place];
    return each.label && each.show !== false && value !== null && value !== undefined ? `${each.label} ${figure(value)}` : null;
  });
  const at = instant(Math.round(plot.data[0][place] * 1e6));
  element.textContent = [at.replace(/(\.\d{3})\d+$/, "$1"), ...parts.filter(Boolean)].join("   ");
}

// Whole powers of ten around the values.
function decades(low, high) {
  if (low === null || !(low > 0)) return [1, 10];
  const [from, to] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  return [10 ** from, 10 ** Math.max(to, from + 1)];
}
