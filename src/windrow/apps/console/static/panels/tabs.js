// Tabs that the arrow keys walk through.
import { html, useRef } from "../vendor/preact.js";

export function Tabs({ label, tabs, chosen, choose, children }) {
  const list = useRef(null);
  const step = (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!move) return;
    event.preventDefault();
    const place = (tabs.findIndex(([key]) => key === chosen) + move + tabs.length) % tabs.length;
    choose(tabs[place][0]);
    list.current.children[place].focus();
  };
  return html`<div class="tabs">
    <div role="tablist" aria-label=${label} ref=${list} onKeyDown=${step}>
      ${tabs.map(([key, text]) => html`<button type="button" role="tab" id=${`tab-${key}`} aria-selected=${key === chosen}
        aria-controls="tab-panel" tabindex=${key === chosen ? 0 : -1} onClick=${() => choose(key)}>${text}</button>`)}
    </div>
    <div role="tabpanel" id="tab-panel" aria-labelledby=${`tab-${chosen}`}>${children}</div>
  </div>`;
}
