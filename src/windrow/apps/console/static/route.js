// The view and the name in the address, behind its #, so that every view can be linked to.
import { useEffect, useState } from "./vendor/preact.js";

/** The address of a view, or of one thing in it. */
export function hrefOf(view, name = null) {
  return name === null ? `#/${view}` : `#/${view}/${encodeURIComponent(name)}`;
}

/** Goes there. */
export function go(view, name = null) {
  location.hash = hrefOf(view, name);
}

/** Where the page is: {view, name}, with name null where there is none. */
export function useRoute() {
  const [route, setRoute] = useState(parsed);
  useEffect(() => {
    const listener = () => setRoute(parsed());
    addEventListener("hashchange", listener);
    return () => removeEventListener("hashchange", listener);
  }, []);
  return route;
}

function parsed() {
  const [, view = "", name = ""] = location.hash.split("/");
  return { view: view || "queries", name: name ? decoded(name) : null };
}

function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
