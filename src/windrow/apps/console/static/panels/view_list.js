// Views at the side: what each holds, and who reads it; one that nobody reads holds nothing.
import { html } from "../vendor/preact.js";
import { bytes, count } from "../shown/numbers.js";

export function ViewList({ views }) {
  if (!views?.length) return null;
  return html`<section class="list" aria-labelledby="views-head">
    <h2 id="views-head">Views <span class="count">${views.length}</span></h2>
    <ul>${views.map((view) => html`<li key=${view.name}><div class="item" title=${view.text}>
      <span class="item-name"><span class="name">${view.name}</span></span>
      <span class="item-facts numbers"><span>${count(view.rows)} rows</span><span>${bytes(view.bytes)}</span></span>
      <span class="item-facts"><span>${view.readers.length ? `read by ${view.readers.join(", ")}` : "not read"}</span></span>
    </div></li>`)}</ul>
  </section>`;
}
