// All queries: how each stands, and a link to it.
import { html } from "../vendor/preact.js";
import { rate } from "../shown/numbers.js";
import { about } from "../shown/times.js";
import { hrefOf } from "../route.js";

export const LEVELS = {
  A: "Level A: exact at all times",
  B: "Level B: a narrower window, within the tolerated error",
  C: "Level C: windows take turns at being wide, within the tolerated error",
  unmet: "No level: there is not enough memory for the query",
  incomplete: "Incomplete: rows were refused for lack of memory, and answers lack them",
};

const SIGNS = { unmet: "!", incomplete: "?" };

export function QueryList({ queries, selected }) {
  return html`<section class="list" aria-labelledby="queries-head">
    <h2 id="queries-head">Queries ${queries?.length ? html`<span class="count">${queries.length}</span>` : ""}</h2>
    ${queries?.length === 0 && html`<p class="empty">None yet. Write one in the editor, or pick an example there.</p>`}
    <ul>${queries?.map((query) => html`<${Item} query=${query} isSelected=${query.name === selected} key=${query.name} />`)}</ul>
  </section>`;
}

function Item({ query, isSelected }) {
  return html`<li><a href=${hrefOf("queries", query.name)} aria-current=${isSelected ? "true" : undefined}>
    <span class="item-name"><i class=${`dot ${tone(query.state)}`} aria-hidden="true"></i><span class="name">${query.name}</span>
      <${Level} level=${query.level} /></span>
    <span class="item-facts numbers">${query.state === "running" ? html`<span>lag ${about(query.lag_us)}</span><span>${rate(query.rate)}</span>` : html`<span class=${tone(query.state)}>${query.state}</span>`}</span>
  </a></li>`;
}

/** A level as a badge. */
export function Level({ level }) {
  return level ? html`<abbr class=${`level level-${level}`} title=${LEVELS[level]}>${SIGNS[level] ?? level}</abbr>` : null;
}

/** The tone of a state. */
export function tone(state) {
  return { running: "good", ended: "muted", failed: "bad" }[state];
}
