// Requests to the server that this page came from. Failures become a Refusal with a code and a hint.
export class Refusal extends Error {
  constructor(status, error) {
    super(error.message);
    Object.assign(this, { status, code: error.code, hint: error.hint, line: error.line, column: error.column, length: error.length });
  }
}

const ROOT = "/api/v1/";

export const get = (path, signal) => request("GET", path, undefined, signal);
export const post = (path, body, signal) => request("POST", path, body, signal);
export const remove = (path) => request("DELETE", path);

/** The path with its parts escaped, and what is not null behind the question mark; lists are repeated. */
export function address(parts, parameters = {}) {
  const known = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined);
  const given = known.flatMap(([name, value]) => [value].flat().map((each) => [name, each]));
  const query = new URLSearchParams(given).toString();
  return parts.map(encodeURIComponent).join("/") + (query ? `?${query}` : "");
}

async function request(method, path, body, signal) {
  const headers = { Accept: "application/json" };
  // On all that changes something, with or without a body: no form of another site can send it.
  if (method !== "GET") headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(ROOT + path, { method, headers, signal, credentials: "same-origin", body: body && JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, { code: "", message: "The server does not answer.", hint: "Is the console still running?" });
  }
  if (response.ok) return response.json();
  const content = await response.json().catch(() => ({}));
  const known = content.error ?? { code: "", message: `The server answered ${response.status}.`, hint: "" };
  throw new Refusal(response.status, known);
}
