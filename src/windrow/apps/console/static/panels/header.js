// The session at a glance: what runs, how full the budget is, how far the clock is.
import { html, useState } from "../vendor/preact.js";
import { post } from "../server/requests.js";
import { bytes, percent } from "../shown/numbers.js";
import { about, instant } from "../shown/times.js";
import { choice, choose } from "../shown/theme.js";

const NEXT = { system: "light", light: "dark", dark: "system" };
const STATES = { live: ["Live", "good"], connecting: ["Connecting …", "warn"], lost: ["Not connected", "bad"], locked: ["Locked", "bad"] };

export function Header({ session, clockUs, connection }) {
  const [label, tone] = STATES[connection.state];
  return html`<header class="top">
    <h1><img src="/static/favicon.svg" alt="" width="20" height="20" />Windrow <span class="title">${session?.title ?? ""}</span></h1>
    ${session && html`<dl class="facts">
      <div><dt>runs</dt><dd>${session.runner === "spark" ? "on Spark" : "in process"}${session.read_only ? ", read only" : ""}</dd></div>
      <div><dt>memory</dt><dd><${Memory} session=${session} /></dd></div>
      ${clockUs !== null && html`<div><dt>clock</dt><dd class="numbers">${instant(clockUs).slice(0, 19)} UTC</dd></div>`}
      <div class="wide-only"><dt>up</dt><dd class="numbers">${about(upTime(session))}</dd></div>
    </dl>`}
    <span class=${`state ${tone}`} role="status"><i class="dot" aria-hidden="true"></i>${label}</span>
    <span class="tools"><${ThemeButton} /><${LogoutButton} /></span>
  </header>`;
}

function upTime({ now_us, started_us }) {
  return Math.floor((now_us - started_us) / 1e6) * 1e6;
}

function Memory({ session }) {
  const share = session.memory_bytes ? session.bytes / session.memory_bytes : 0;
  return html`<span class="numbers">${bytes(session.bytes)} of ${bytes(session.memory_bytes)}</span>
    <meter min="0" max="1" high="0.85" value=${Math.min(1, share)} aria-label=${`${percent(share)} of the budget`}></meter>`;
}

// The cookie serves no more, and what was on the page is gone from it.
function LogoutButton() {
  const leave = () => post("logout", {}).finally(() => location.replace("/"));
  return html`<button type="button" class="quiet" onClick=${leave}>Log out</button>`;
}

function ThemeButton() {
  const [current, setCurrent] = useState(choice());
  const change = () => {
    choose(NEXT[current]);
    setCurrent(NEXT[current]);
  };
  return html`<button type="button" class="quiet theme" onClick=${change} aria-label=${`Colours: ${current}. Change to ${NEXT[current]}`}>
    <i class="theme-mark" aria-hidden="true"></i><span class="wide-enough">${{ system: "Auto", light: "Light", dark: "Dark" }[current]}</span></button>`;
}
