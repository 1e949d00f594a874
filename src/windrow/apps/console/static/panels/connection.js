// Says when the server is away, since when, and what to do.
import { html, useEffect, useState } from "../vendor/preact.js";
import { clock } from "../shown/times.js";

export function Connection({ connection, heardAt, retry }) {
  if (connection.state === "locked") {
    return html`<div class="banner bad" role="alert"><strong>The console has locked this page.</strong>
      It was probably restarted. Open the address that it printed, with its <code>?token=…</code>.</div>`;
  }
  if (connection.state !== "lost") return null;
  return html`<div class="banner warn" role="alert"><strong>The server does not answer.</strong>
    ${heardAt ? ` What is shown is from ${clock(heardAt * 1000).slice(0, 8)} UTC.` : " Is the console still running?"}
    <${Countdown} to=${connection.retryAt} />
    <button type="button" onClick=${retry}>Try now</button></div>`;
}

function Countdown({ to }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((to - now) / 1000));
  // Read aloud once, not every second.
  return html`<span aria-hidden="true">${seconds ? ` Trying again in ${seconds} s.` : " Trying …"}</span>`;
}
