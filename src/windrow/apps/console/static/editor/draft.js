// The query that is being written: shared by the editor and by "edit a copy", kept for the tab.
import { useEffect, useState } from "../vendor/preact.js";

const KEY = "windrow-draft";
const listeners = new Set();
let draft = { text: kept(), name: "", stamp: 0 };

/** Puts a text into the editor from elsewhere; the stamp tells the editor to take it. */
export function replaceDraft(text, name = "") {
  set({ text, name, stamp: draft.stamp + 1 });
}

/** Notes what was typed. */
export function noteDraft(part) {
  set({ ...draft, ...part });
}

export function useDraft() {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = () => redraw((count) => count + 1);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, []);
  return draft;
}

function set(next) {
  draft = next;
  try {
    sessionStorage.setItem(KEY, draft.text);
  } catch {
    // Without storage the draft lasts as long as the page.
  }
  for (const listener of listeners) listener();
}

function kept() {
  try {
    return sessionStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}
