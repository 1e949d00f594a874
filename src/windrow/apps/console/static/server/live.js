// The live connection: asks for what is watched, hands on what comes, and reconnects for ever.
import { get } from "./requests.js";

const LOCKED = 401;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** Connects; `watch()` says what to watch, `onMessage` and `onState` are told what comes and how it stands. */
export function connect({ watch, onMessage, onState }) {
  let socket = null;
  let attempts = 0;
  let timer = null;
  let closed = false;

  function open() {
    timer = null;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    socket = new WebSocket(`${scheme}://${location.host}/api/v1/live`);
    socket.onopen = () => {
      attempts = 0;
      onState({ state: "live" });
      ask();
    };
    socket.onmessage = (event) => onMessage(JSON.parse(event.data));
    socket.onclose = () => {
      socket = null;
      if (!closed) retry();
    };
  }

  function retry() {
    attempts += 1;
    // A little chance keeps many pages from knocking at the same moment.
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempts - 1)) * (0.8 + 0.4 * Math.random());
    onState({ state: "lost", attempts, retryAt: Date.now() + wait });
    timer = setTimeout(open, wait);
    // A browser does not say why a socket was refused; a request does.
    if (attempts > 1) get("session").catch(({ status }) => status === LOCKED && lock());
  }

  function lock() {
    clearTimeout(timer);
    timer = null;
    onState({ state: "locked" });
  }

  function ask() {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ watch: watch() }));
  }

  const retryNow = () => {
    if (timer === null) return;
    clearTimeout(timer);
    open();
  };
  addEventListener("online", retryNow);
  open();
  return {
    ask,
    retryNow,
    close() {
      closed = true;
      clearTimeout(timer);
      removeEventListener("online", retryNow);
      socket?.close();
    },
  };
}
