// Asks the server about a text while it is typed: its plan, or what is wrong and where.
import { useEffect, useState } from "../vendor/preact.js";
import { Refusal, post } from "../server/requests.js";

const PAUSE_MS = 250;

/** {plan, columns} or {problem}, of the last text that was asked about; nothing for an empty one. */
export function useExplained(text) {
  const [explained, setExplained] = useState({});
  useEffect(() => {
    if (!text.trim()) {
      setExplained({});
      return undefined;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => ask(text, stop.signal).then((answer) => answer && setExplained(answer)), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text]);
  return explained;
}

async function ask(text, signal) {
  try {
    const answer = await post("explain", { text }, signal);
    return answer.ok ? { plan: answer.plan, columns: answer.columns, text } : { problem: answer.error, text };
  } catch (error) {
    if (error instanceof Refusal) return { problem: error, text };
    if (error.name === "AbortError") return null;
    throw error;
  }
}
