// WQL for the editor: words, numbers, texts, backquoted names and comments, in the theme's colours.
import { EditorView, HighlightStyle, StreamLanguage, syntaxHighlighting, tags } from "../vendor/codemirror.js";
import { AGGREGATES, FUNCTIONS, KEYWORDS, SINGULAR_UNITS, TYPES, UNITS, WINDOW_WORDS } from "./words.js";

const KINDS = new Map([
  ...KEYWORDS.map((word) => [word, "keyword"]),
  ...[...WINDOW_WORDS, ...UNITS, ...SINGULAR_UNITS].map((word) => [word, "unit"]),
  ...[...AGGREGATES, ...FUNCTIONS].map((word) => [word, "function"]),
  ...TYPES.map((word) => [word, "typeName"]),
]);
// These are words only within the brackets of a window; elsewhere they may be names.
const ONLY_IN_BRACKETS = new Set([...WINDOW_WORDS, ...UNITS, ...SINGULAR_UNITS]);

const language = StreamLanguage.define({
  name: "wql",
  startState: () => ({ comment: false, brackets: 0, service: false }),
  token,
  tokenTable: { unit: tags.unit, function: tags.function(tags.variableName) },
  languageData: { commentTokens: { line: "--", block: { open: "/*", close: "*/" } }, closeBrackets: { brackets: ["(", "[", "'", "`"] } },
});

function token(stream, state) {
  if (state.comment || stream.match("/*")) {
    state.comment = !stream.match(/^.*?\*\//);
    if (state.comment) stream.skipToEnd();
    return "comment";
  }
  if (stream.eatSpace()) return null;
  if (stream.match("--")) {
    stream.skipToEnd();
    return "comment";
  }
  if (stream.match(/^'(?:[^']|'')*'?/)) return "string";
  if (stream.match(/^`(?:[^`]|``)*`?/)) return "variableName";
  if (stream.match(/^\d+(?:\.\d*)?(?:[eE][+-]?\d+)?%?/)) return "number";
  const word = stream.match(/^[\p{L}_][\p{L}\p{N}_]*/u);
  if (word) return kindOf(word[0].toUpperCase(), state, stream);
  const sign = stream.next();
  if (sign === "[") state.brackets += 1;
  if (sign === "]") state.brackets = Math.max(0, state.brackets - 1);
  if (sign === ")") state.service = false;
  return /[<>=!+\-*/%|]/.test(sign) ? "operator" : /[[\]]/.test(sign) ? "squareBracket" : null;
}

function kindOf(word, state, stream) {
  if (word === "EVERY" || word === "ERROR") state.service = true;
  if (ONLY_IN_BRACKETS.has(word) && !state.brackets && !state.service) return "variableName";
  const kind = KINDS.get(word) ?? "variableName";
  return kind === "function" && !stream.match(/^\s*\(/, false) ? "variableName" : kind;
}

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--code-keyword)", fontWeight: "600" },
  { tag: tags.unit, color: "var(--code-unit)" },
  { tag: tags.squareBracket, color: "var(--code-unit)", fontWeight: "600" },
  { tag: tags.function(tags.variableName), color: "var(--code-function)" },
  { tag: tags.typeName, color: "var(--code-function)" },
  { tag: tags.string, color: "var(--code-string)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
]);

// The editor lives in a shadow root: only custom properties of the page reach it.
const look = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--well)", fontSize: "13px", borderRadius: "6px", border: "1px solid var(--line-strong)" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", minHeight: "9.5em", maxHeight: "24em" },
  ".cm-content": { padding: "8px 0", caretColor: "var(--text)" },
  ".cm-line": { padding: "0 10px" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--selection)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--selection)", outline: "none" },
  ".cm-placeholder": { color: "var(--muted)" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", color: "var(--text)", border: "1px solid var(--line-strong)", borderRadius: "6px", boxShadow: "0 4px 16px var(--shadow)", overflow: "hidden" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "14em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "3px 8px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionDetail": { color: "inherit", opacity: "0.75", fontStyle: "normal" },
  ".cm-completionIcon": { display: "none" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-diagnostic": { padding: "6px 10px", borderLeft: "3px solid var(--bad)", fontFamily: "system-ui, sans-serif", maxWidth: "32rem" },
  ".cm-diagnostic p": { margin: "0" },
  ".cm-diagnostic p + p": { marginTop: "3px", color: "var(--muted)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)", textDecorationSkipInk: "none", textUnderlineOffset: "3px" },
  ".cm-lintPoint:after": { borderBottomColor: "var(--bad)" },
});

export const wql = [language, syntaxHighlighting(colours), look];
