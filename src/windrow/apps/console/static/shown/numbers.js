// Numbers for people: grouped thousands, few digits, units.
const GROUPED = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const PLAIN = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });

/** "12,345". */
export function count(value) {
  return value === null || value === undefined ? "–" : GROUPED.format(value);
}

/** "1 row", "12 rows". */
export function counted(value, noun) {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** A figure in at most six digits: "21.375", "1,204,000", "1.5e-9". */
export function figure(value) {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞";
  if (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e15)) return value.toExponential(3);
  return Number.isInteger(value) ? GROUPED.format(value) : PLAIN.format(value);
}

/** "1.5 MB", in powers of 1024 as the memory budget has them. */
export function bytes(value) {
  if (value === null || value === undefined) return "–";
  const units = ["B", "KB", "MB", "GB", "TB"];
  let scale = 0;
  while (value >= 1024 && scale < units.length - 1) [value, scale] = [value / 1024, scale + 1];
  return `${scale && value < 100 ? Number(value.toPrecision(3)) : Math.round(value)} ${units[scale]}`;
}

/** "120 /s". */
export function rate(value) {
  if (value === null || value === undefined) return "–";
  return `${value >= 100 ? count(value) : Number(value.toPrecision(2))} /s`;
}

/** "12 %" of a share between 0 and 1. */
export function percent(share) {
  if (share === null || share === undefined || !Number.isFinite(share)) return "–";
  const value = share * 100;
  return `${value >= 10 || value === 0 ? Math.round(value) : Number(value.toPrecision(2))} %`;
}
