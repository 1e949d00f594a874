// What the page knows: sections that the server sends anew when they change, and the watched query.
import { WidthLog } from "../charts/width_log.js";
import { connect } from "./live.js";
import { WatchedQuery } from "./watched.js";

/** Connects, and calls `onChange` whenever there is something new to show. */
export function followServer(onChange) {
  const state = {
    connection: { state: "connecting" },
    heardAt: null,
    session: null,
    queries: null,
    windows: null,
    views: null,
    streams: null,
    batches: null,
    operations: null,
    widths: new WidthLog(),
    watched: null,
  };
  let pending = false;

  // Several messages between two pictures are shown at once.
  function changed() {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => {
      pending = false;
      onChange();
    });
  }

  const live = connect({
    watch: () => state.watched?.place() ?? { query: null },
    onMessage(message) {
      state.heardAt = Date.now();
      if (isAnother(state.session, message.session) || isNewOfOldName(state, message)) begin(message);
      merge(state, message);
      changed();
    },
    onState(connection) {
      state.connection = connection;
      changed();
    },
  });

  // A server that was started anew counts anew, as does a new query: what was drawn of the old one goes.
  function begin({ queries }) {
    state.widths = new WidthLog();
    const query = queries?.find(({ name }) => name === state.watched?.name) ?? null;
    state.watched?.close();
    state.watched = query && new WatchedQuery(query, { changed, ready: live.ask });
  }

  return {
    state,
    live,
    /** Watches this query, or none. */
    watch(query) {
      if ((state.watched?.name ?? null) === (query?.name ?? null)) return;
      state.watched?.close();
      state.watched = query === null ? null : new WatchedQuery(query, { changed, ready: live.ask });
      if (query === null) live.ask();
      changed();
    },
  };
}

/** The instant that all running queries have reached; null before that. */
export function clockOf(queries) {
  const clocks = (queries ?? []).filter(({ state, clock_us }) => state === "running" && clock_us !== null).map(({ clock_us }) => clock_us);
  return clocks.length ? Math.min(...clocks) : null;
}

function isAnother(known, session) {
  return Boolean(known && session && known.started_us !== session.started_us);
}

// The name of a query that was stopped may be given to another.
function isNewOfOldName({ queries, watched }, message) {
  const stateIn = (list) => list?.find(({ name }) => name === watched?.name)?.state;
  return stateIn(queries) !== undefined && stateIn(queries) !== "running" && stateIn(message.queries) === "running";
}

function merge(state, message) {
  for (const section of ["session", "queries", "views", "streams", "windows", "batches", "operations"]) {
    if (section in message) state[section] = message[section];
  }
  if ("windows" in message) state.widths.append(state.windows.windows);
  for (const feed of ["answers", "changes"]) {
    if (message[feed] && message[feed].query === state.watched?.name) state.watched.take(feed, message[feed]);
  }
}
