// What may come next: columns of the streams that are read, streams, words.
import { AGGREGATES, FUNCTIONS, KEYWORDS, UNITS, WINDOW_WORDS, written } from "./words.js";

const NAME = "`(?:[^`]|``)+`|[\\p{L}_][\\p{L}\\p{N}_]*";
const SOURCE = new RegExp(`(?:\\b(?:FROM|JOIN)\\s+|,\\s*|\\bHISTORY\\s*\\(\\s*)(${NAME})\\s*\\)?\\s*(?:\\[[^\\]]*\\])?\\s*(?:AS\\s+)?(${NAME})?`, "giu");
const NOT_AN_ALIAS = new Set([...KEYWORDS, "INTO"]);

const words = [
  ...KEYWORDS.map((label) => ({ label, type: "keyword", boost: -1 })),
  ...AGGREGATES.map((label) => ({ label, type: "function", detail: "aggregate", apply: applied(label) })),
  ...FUNCTIONS.map((label) => ({ label, type: "function", apply: applied(label), boost: -2 })),
];
const windowWords = [...UNITS, ...WINDOW_WORDS].map((label) => ({ label, type: "keyword" }));

/** A completion source over the streams that `streams()` gives. */
export function completion(streams) {
  return (context) => {
    const text = context.state.doc.toString();
    const word = context.matchBefore(/[`\p{L}_][\p{L}\p{N}_]*/u);
    const from = word?.from ?? context.pos;
    const before = text.slice(0, from);
    const known = streams() ?? [];
    const owner = before.match(new RegExp(`(${NAME})\\.$`, "u"));
    if (owner) return { from, options: columnsOf(known, sources(text), bare(owner[1])), validFor: /^[`\w]*$/ };
    if (isInBrackets(before)) return word || context.explicit ? { from, options: windowWords, validFor: /^\w*$/ } : null;
    const isSource = /(?:\bFROM|\bJOIN)\s+$|(?:\bFROM\b[^()]*),\s*$/iu.test(before);
    if (!word && !context.explicit && !isSource) return null;
    if (isSource) return { from, options: known.map(streamOption), validFor: /^[`\w]*$/ };
    return { from, options: [...allColumns(known, sources(text)), ...known.map(streamOption), ...words], validFor: /^[`\w]*$/ };
  };
}

/** Streams that the text reads, by the name they go by in it. */
export function sources(text) {
  const found = new Map();
  for (const [, stream, alias] of text.matchAll(SOURCE)) {
    const isAlias = alias && !NOT_AN_ALIAS.has(alias.toUpperCase());
    found.set(bare(isAlias ? alias : stream).toLowerCase(), bare(stream));
  }
  return found;
}

function columnsOf(streams, read, owner) {
  const name = read.get(owner.toLowerCase()) ?? owner;
  const stream = streams.find((each) => each.name.toLowerCase() === name.toLowerCase());
  return stream?.columns.map((column) => columnOption(column, null)) ?? [];
}

function allColumns(streams, read) {
  const names = new Set([...read.values()].map((name) => name.toLowerCase()));
  const shown = streams.filter(({ name }) => names.has(name.toLowerCase()));
  return (shown.length ? shown : streams).flatMap((stream) => stream.columns.map((column) => columnOption(column, stream.name)));
}

function columnOption({ name, type }, stream) {
  return { label: name, apply: written(name), type: "property", detail: stream ? `${type}, ${stream}` : type, boost: 2 };
}

function streamOption({ name, columns }) {
  return { label: name, apply: written(name), type: "class", detail: `stream, ${columns.length} columns`, boost: 1 };
}

function isInBrackets(before) {
  return before.lastIndexOf("[") > before.lastIndexOf("]") || /\bEVERY\s*\([^)]*$/i.test(before);
}

function bare(name) {
  return name.startsWith("`") ? name.slice(1, -1).replaceAll("``", "`") : name;
}

function applied(label) {
  return (view, _, from, to) => {
    view.dispatch({ changes: { from, to, insert: `${label}()` }, selection: { anchor: from + label.length + 1 } });
  };
}
