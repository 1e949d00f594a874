// The editor: a text, what the server says of it while it is typed, and a button that runs it.
import { html, useState } from "../vendor/preact.js";
import { Editor } from "../editor/editor.js";
import { noteDraft, replaceDraft, useDraft } from "../editor/draft.js";
import { examples } from "../editor/examples.js";
import { useExplained } from "../editor/explained.js";
import { post } from "../server/requests.js";
import { go } from "../route.js";
import { Table } from "./table.js";

const ALGORITHMS = ["auto", "factorised", "charged", "incremental", "pipelined"];

export function Workbench({ streams, session, queries }) {
  const draft = useDraft();
  const explained = useExplained(draft.text);
  const [refused, setRefused] = useState(null);
  const [algorithm, setAlgorithm] = useState("auto");
  const [answer, setAnswer] = useState(null);
  const [isBusy, setBusy] = useState(false);
  const isAsked = /\bHISTORY\s*\(/i.test(draft.text);
  const problem = explained.text === draft.text ? explained.problem : null;
  // What was refused when it was run stays underlined until the text changes.
  const shown = refused?.text === draft.text ? refused.problem : problem;

  async function send(work) {
    if (!draft.text.trim() || isBusy) return;
    setBusy(true);
    setRefused(null);
    try {
      await work();
    } catch (error) {
      setRefused({ text: draft.text, problem: error });
    } finally {
      setBusy(false);
    }
  }
  const run = () =>
    send(async () => {
      const body = { text: draft.text };
      if (draft.name.trim()) body.name = draft.name.trim();
      if (algorithm !== "auto") body.algorithm = algorithm;
      const query = await post("queries", body);
      noteDraft({ name: "" });
      go("queries", query.name);
    });
  const ask = () => send(async () => setAnswer(await post("ask", { text: draft.text })));

  if (session?.read_only) return null;
  return html`<section class="panel workbench" aria-labelledby="workbench-head">
    <div class="panel-head"><h2 id="workbench-head">New query</h2>
      <${Examples} streams=${streams} isFirst=${!queries?.length && !draft.text} /></div>
    <div class="bench">
      <div class="bench-text">
        <${Editor} text=${draft.text} stamp=${draft.stamp} streams=${streams} problem=${shown}
          onText=${(text) => noteDraft({ text })} onRun=${run} />
        <div class="controls">
          <label>name <input type="text" value=${draft.name} maxlength="200" placeholder="optional" autocomplete="off"
            onInput=${(event) => noteDraft({ name: event.target.value })} onKeyDown=${(event) => event.key === "Enter" && run()} /></label>
          <label>algorithm <select value=${algorithm} onChange=${(event) => setAlgorithm(event.target.value)}>
            ${ALGORITHMS.map((each) => html`<option>${each}</option>`)}</select></label>
          <span class="spring"></span>
          ${isAsked && html`<button type="button" onClick=${ask} disabled=${isBusy}>Ask once</button>`}
          <button type="button" class="primary" onClick=${run} disabled=${isBusy || !draft.text.trim()}>Run <kbd aria-hidden="true">Ctrl ↵</kbd></button>
        </div>
      </div>
      <${Verdict} problem=${shown} plan=${explained.plan} isEmpty=${!draft.text.trim()} />
    </div>
    ${answer && html`<div class="asked"><div class="panel-head"><h3>Answer from the history</h3>
      <button type="button" class="quiet" onClick=${() => setAnswer(null)}>Close</button></div>
      <${Table} columns=${answer.columns} rows=${answer.rows} label="Answer from the history" /></div>`}
  </section>`;
}

function Examples({ streams, isFirst }) {
  const found = examples(streams ?? []);
  if (!found.length) return null;
  return html`<div class="examples"><span class="muted">${isFirst ? "Start with" : "Examples"}</span>
    ${found.map(([label, text]) => html`<button type="button" class="chip" onClick=${() => replaceDraft(text)}>${label}</button>`)}</div>`;
}

// Said politely: it changes as one types.
function Verdict({ problem, plan, isEmpty }) {
  if (problem) {
    return html`<div class="verdict problem" role="status"><p><strong>${problem.message}</strong></p>
      ${problem.hint && html`<p>${problem.hint}</p>`}
      <p class="muted small">${[problem.code, problem.line && `line ${problem.line}, column ${problem.column}`].filter(Boolean).join(" · ")}</p></div>`;
  }
  if (isEmpty || !plan) {
    return html`<div class="verdict" role="status"><p class="empty">The plan appears here as you type, or what is wrong and where.${" "}
      <kbd>Ctrl Space</kbd> completes streams, columns and words.</p></div>`;
  }
  return html`<div class="verdict" role="status"><pre class="plan" tabindex="0" aria-label="Plan">${plan}</pre></div>`;
}
