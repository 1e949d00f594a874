// The whole page: header, the list at the side, and the view that the address names.
import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { clockOf, followServer } from "./server/state.js";
import { Header } from "./panels/header.js";
import { Connection } from "./panels/connection.js";
import { Trouble } from "./panels/trouble.js";
import { QueryList } from "./panels/query_list.js";
import { StreamList } from "./panels/stream_list.js";
import { ViewList } from "./panels/view_list.js";
import { Workbench } from "./panels/workbench.js";
import { QueryView } from "./panels/query_view.js";
import { Windows } from "./panels/windows.js";
import { History } from "./panels/history.js";
import { Streams } from "./panels/streams.js";
import { Batches } from "./panels/batches.js";
import { hrefOf, useRoute } from "./route.js";

const VIEWS = [
  ["queries", "Queries"],
  ["windows", "Windows"],
  ["history", "History"],
  ["streams", "Streams"],
  ["batches", "Batches"],
];

export function App() {
  const [, redraw] = useState(0);
  const server = useRef(null);
  server.current ??= followServer(() => redraw((count) => count + 1));
  const { state, live, watch } = server.current;
  const route = useRoute();
  const selected = selectedQuery(route, state.queries);
  const query = state.queries?.find(({ name }) => name === selected) ?? null;
  useEffect(() => watch(route.view === "queries" ? query : null), [route.view, query?.name]);
  useEffect(() => {
    document.title = `${state.session?.title ?? "Console"} · Windrow`;
  }, [state.session?.title]);
  const views = VIEWS.filter(([view]) => view !== "batches" || state.session?.runner === "spark");

  return html`<a class="skip" href="#main" onClick=${focusMain}>To the content</a>
    <${Header} session=${state.session} clockUs=${clockOf(state.queries)} connection=${state.connection} />
    <nav class="views" aria-label="Views">
      ${views.map(([view, label]) => html`<a href=${hrefOf(view)} aria-current=${route.view === view ? "page" : undefined}>${label}</a>`)}
    </nav>
    <${Connection} connection=${state.connection} heardAt=${state.heardAt} retry=${live.retryNow} />
    <${Trouble} session=${state.session} streams=${state.streams} queries=${state.queries} />
    <div class=${`columns view-${route.view}`}>
      <aside class="side" aria-label="Queries, views and streams">
        <${QueryList} queries=${state.queries} selected=${route.view === "queries" ? selected : null} />
        <${ViewList} views=${state.views} />
        <${StreamList} streams=${state.streams} />
      </aside>
      <main id="main" tabindex="-1"><${View} route=${route} state=${state} selected=${selected} query=${query} /></main>
    </div>`;
}

function View({ route, state, selected, query }) {
  if (route.view === "windows") return html`<${Windows} windows=${state.windows} widths=${state.widths} />`;
  if (route.view === "history") return html`<${History} chosen=${route.name} />`;
  if (route.view === "streams") return html`<${Streams} streams=${state.streams} chosen=${route.name} />`;
  if (route.view === "batches") return html`<${Batches} batches=${state.batches} operations=${state.operations} />`;
  return html`<${Workbench} streams=${state.streams} session=${state.session} queries=${state.queries} />
    <${QueryView} query=${query} name=${selected} isHeard=${state.queries !== null} watched=${state.watched} isReadOnly=${state.session?.read_only} key=${selected} />`;
}

// The one that the address names, else the first that runs.
function selectedQuery(route, queries) {
  if (route.view === "queries" && route.name !== null) return route.name;
  const running = queries?.find(({ state }) => state === "running");
  return running?.name ?? queries?.at(-1)?.name ?? null;
}

function focusMain(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}
