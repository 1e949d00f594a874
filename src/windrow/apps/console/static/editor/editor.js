// CodeMirror as a component. It lives in a shadow root, where its styles are adopted style sheets:
// the page's Content-Security-Policy would not let it write style elements.
import {
  EditorState, EditorView, Prec, autocompletion, bracketMatching, closeBrackets, closeBracketsKeymap,
  completionKeymap, defaultKeymap, drawSelection, highlightSpecialChars, history, historyKeymap, keymap, lintKeymap,
  placeholder, setDiagnostics,
} from "../vendor/codemirror.js";
import { html, useEffect, useRef } from "../vendor/preact.js";
import { completion } from "./completion.js";
import { wql } from "./wql.js";

/** `text` from outside replaces what is there when `stamp` changes; `problem` is underlined. */
export function Editor({ text, stamp, streams, problem, onText, onRun }) {
  const host = useRef(null);
  const view = useRef(null);
  const latest = useRef({});
  latest.current = { streams, onText, onRun };

  useEffect(() => {
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
    view.current = new EditorView({ state: stateOf(text, latest), parent: root, root });
    return () => view.current.destroy();
  }, []);

  useEffect(() => {
    const { doc } = view.current.state;
    if (doc.toString() !== text) view.current.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
    if (stamp > 0) view.current.focus();
  }, [stamp]);

  useEffect(() => {
    view.current.dispatch(setDiagnostics(view.current.state, problem ? [diagnostic(view.current.state.doc, problem)] : []));
  }, [problem]);

  return html`<div class="editor" ref=${host}></div>`;
}

function stateOf(text, latest) {
  const run = () => {
    latest.current.onRun();
    return true;
  };
  return EditorState.create({
    doc: text,
    extensions: [
      Prec.highest(keymap.of([{ key: "Mod-Enter", run }])),
      history(),
      drawSelection(),
      highlightSpecialChars(),
      bracketMatching(),
      closeBrackets(),
      autocompletion({ override: [completion(() => latest.current.streams)], icons: false }),
      // Tab is left to the page, so that one can walk on from the editor.
      keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": "Query text", spellcheck: "false", autocapitalize: "off" }),
      EditorView.updateListener.of((update) => update.docChanged && latest.current.onText(update.state.doc.toString())),
      EditorView.domEventHandlers({ beforeinput: replaceSelected }),
      placeholder("SELECT … FROM stream [10 MINUTES] …"),
      wql,
    ],
  });
}

// Left to itself, the browser gives what replaces a selection a style attribute, which the policy
// forbids. A single bracket or quote is put around the selection instead, by CodeMirror.
function replaceSelected(event, view) {
  const { state } = view;
  if (event.inputType !== "insertText" || !event.data || state.selection.main.empty || /^[([`']$/.test(event.data)) return false;
  event.preventDefault();
  view.dispatch(state.replaceSelection(event.data), { userEvent: "input.type" });
  return true;
}

// Places count characters; the document counts UTF-16 units.
function diagnostic(doc, { line, column, length, message, hint }) {
  const texts = [message, hint].filter(Boolean);
  const known = { severity: "error", message: texts.join(" "), renderMessage: () => paragraphs(texts) };
  if (!line || line > doc.lines) return { ...known, from: 0, to: doc.length };
  const at = doc.line(line);
  const characters = [...at.text];
  const begin = characters.slice(0, Math.max(0, (column ?? 1) - 1)).join("").length;
  const end = begin + characters.slice((column ?? 1) - 1, (column ?? 1) - 1 + Math.max(1, length ?? 1)).join("").length;
  const from = Math.min(at.from + begin, doc.length);
  return end > begin ? { ...known, from, to: Math.min(at.from + end, doc.length) } : { ...known, from: Math.max(at.from, from - 1), to: from };
}

function paragraphs(texts) {
  const block = document.createElement("div");
  for (const text of texts) block.appendChild(document.createElement("p")).textContent = text;
  return block;
}
