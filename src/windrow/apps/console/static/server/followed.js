// What the live connection does not carry, looked at again and again.
import { useEffect, useState } from "../vendor/preact.js";
import { Refusal, get } from "./requests.js";

const LOOK_MS = 2000;

/** What is at this path, looked at again and again: [value, problem]. */
export function useFollowed(path, key) {
  const [value, setValue] = useState(null);
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    const stop = new AbortController();
    let timer = null;
    const look = async () => {
      try {
        const found = await get(path, stop.signal);
        setValue(key ? found[key] : found);
        setProblem(null);
      } catch (error) {
        if (error.name === "AbortError") return;
        // While the server is away, what was known stays.
        if (error instanceof Refusal && error.status) setProblem(error.message);
      }
      timer = setTimeout(look, LOOK_MS);
    };
    look();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [path, key]);
  return [value, problem];
}
