// Values of rows as text. JSON has no NaN, no infinities and no wide integers: these come as text.
import { figure } from "./numbers.js";
import { instant, span } from "./times.js";

const NUMBER = /^(tinyint|smallint|int|integer|bigint|float|double|real|decimal|u?int\d+)/i;

/** Whether values of this type are numbers, and so stand to the right. */
export function isNumber(type) {
  return NUMBER.test(type ?? "");
}

/** Whether values of this type are instants in microseconds. */
export function isInstant(type) {
  return /^timestamp/i.test(type ?? "");
}

/** A value as it is shown; NULL is written out, to differ from an empty text. */
export function shown(value, type) {
  if (value === null || value === undefined) return "NULL";
  if (isInstant(type) && typeof value === "number") return instant(value);
  if (type === "DURATION" && typeof value === "number") return span(value);
  if (typeof value === "number") return figure(value);
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}

/** A value as a number to draw; NaN where it is none. */
export function drawn(value) {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "string" && value !== "" ? Number(value) : NaN;
}
