// The adaptive tree as a picture: a row a level, coarse on top, a node as wide as its time.
import { html } from "../vendor/preact.js";
import { useFollowed } from "../server/followed.js";
import { address } from "../server/requests.js";
import { count } from "../shown/numbers.js";
import { clock, instant, span } from "../shown/times.js";

const NODES = 1500;
const WIDTH = 1000;
const ROW = 26;

export function Tree({ history, zoom }) {
  const [tree] = useFollowed(address(["histories", history.stream, "tree"], { limit: NODES }));
  const levels = [...(tree?.levels ?? [])].sort((a, b) => b.grain_us - a.grain_us).filter(({ nodes }) => nodes.length);
  if (!levels.length) return null;
  const first = Math.min(...levels.map(({ nodes }) => nodes[0].from_us));
  const last = Math.max(...levels.map(({ nodes }) => nodes.at(-1).to_us));
  const x = (us) => ((us - first) / Math.max(1, last - first)) * WIDTH;
  const total = levels.reduce((sum, { nodes }) => sum + nodes.length, 0);
  return html`<section class="panel" aria-labelledby="tree-head">
    <div class="panel-head"><h2 id="tree-head">The tree behind it</h2><span class="muted">${count(total)} nodes; darker: more rows; outlined: split into finer ones where more was going on</span></div>
    <div class="tree"><ol class="tree-levels">${levels.map((level) => html`<li>${span(level.grain_us)}</li>`)}</ol>
      <svg viewBox=${`0 0 ${WIDTH} ${levels.length * ROW}`} preserveAspectRatio="none" role="img" aria-label=${`Tree of ${levels.length} levels and ${total} nodes from ${instant(first)} to ${instant(last)}`}>
        ${levels.map((level, row) => html`<${Level} level=${level} row=${row} x=${x} />`)}
        ${zoom && html`<rect class="tree-zoom" x=${x(zoom[0])} y="0" width=${Math.max(1, x(zoom[1]) - x(zoom[0]))} height=${levels.length * ROW} />`}
      </svg></div>
    <p class="tree-axis muted small numbers"><span>${instant(first).slice(0, 19)}</span><span>${instant(last).slice(0, 19)} UTC</span></p>
  </section>`;
}

function Level({ level, row, x }) {
  const most = Math.max(1, ...level.nodes.map((node) => node.count));
  return level.nodes.map((node) => html`<rect class=${node.split ? "node split" : "node"} key=${`${row} ${node.from_us} ${node.to_us}`} x=${x(node.from_us)} y=${row * ROW + 2}
    width=${Math.max(0.6, x(node.to_us) - x(node.from_us) - 0.6)} height=${ROW - 4} fill-opacity=${0.15 + (0.75 * node.count) / most}>
    <title>${`${clock(node.from_us)} – ${clock(node.to_us)}: ${count(node.count)} rows${node.split ? ", split" : ""}`}</title></rect>`);
}
