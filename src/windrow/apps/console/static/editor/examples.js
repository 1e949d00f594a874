// First queries over the streams that are there.
import { isNumber } from "../shown/values.js";
import { written } from "./words.js";

/** At most four: [what it answers, its text]. */
export function examples(streams) {
  const [stream] = streams;
  if (stream === undefined) return [];
  const from = `FROM ${written(stream.name)} [1 MINUTE]`;
  const number = stream.columns.find(({ name, type }) => name !== stream.time && isNumber(type))?.name;
  const key = stream.columns.find(({ name, type }) => name !== stream.time && /string|int/i.test(type) && name !== number)?.name;
  const found = [["Rows of the last minute", `SELECT COUNT(*) AS n\n${from}\nEVERY (1 SECOND)`]];
  if (number) found.push([`Mean ${number} of the last minute`, `SELECT AVG(${written(number)}) AS mean, MAX(${written(number)}) AS highest\n${from}\nEVERY (1 SECOND)`]);
  if (number && key) {
    const name = written(key);
    found.push([`Mean ${number} by ${key}`, `SELECT ${name}, AVG(${written(number)}) AS mean\n${from}\nGROUP BY ${name}\nEVERY (5 SECONDS)`]);
  }
  const joined = joinable(streams);
  if (joined) found.push([`${joined[0].name} and ${joined[1].name} by ${joined[2]}`, joinText(...joined)]);
  return found;
}

// Two streams with a column of the same name and type, which is not their time.
function joinable(streams) {
  for (const [place, left] of streams.entries()) {
    for (const right of streams.slice(place + 1)) {
      const shared = left.columns.find(({ name, type }) =>
        name !== left.time && name !== right.time && right.columns.some((other) => other.name === name && other.type === type));
      if (shared) return [left, right, shared.name];
    }
  }
  return null;
}

function joinText(left, right, column) {
  const [a, b, key] = [left.name, right.name, column].map(written);
  return `SELECT ${a}.${key}, COUNT(*) AS pairs\nFROM ${a} [1 MINUTE], ${b} [1 MINUTE]\nWHERE ${a}.${key} = ${b}.${key}\nGROUP BY ${a}.${key}\nEVERY (5 SECONDS)`;
}
