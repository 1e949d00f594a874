// What the console's editor uses of CodeMirror, as one module.
export { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { HighlightStyle, StreamLanguage, bracketMatching, syntaxHighlighting } from "@codemirror/language";
export { lintKeymap, setDiagnostics } from "@codemirror/lint";
export { EditorState, Prec } from "@codemirror/state";
export { EditorView, drawSelection, highlightSpecialChars, keymap, placeholder } from "@codemirror/view";
export { tags } from "@lezer/highlight";
