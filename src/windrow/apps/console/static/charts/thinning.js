// As many points as there are pixels: of each slice of time the smallest and the largest value, in
// the order in which they came. What is drawn is the same, and what is drawn costs no more than that.

/** The first place whose second is not before this one. */
export function placeOf(seconds, size, second) {
  let [low, high] = [0, size];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (seconds[middle] < second) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * These lines between two seconds in at most `slices` slices, as [x, y…] or, with bounds, [x, y, low, high, …].
 * Its `slice_s` is how wide a slice is, in seconds: so far off a point may be drawn; 0 where none is.
 */
export function thinned(log, lines, measure, from, to, slices, withBounds) {
  const begin = Math.max(0, placeOf(log.seconds, log.size, from) - 1);
  const end = Math.min(log.size, placeOf(log.seconds, log.size, to) + 1);
  const edges = end - begin <= 2 * slices ? null : edgesOf(log.seconds, begin, end, slices);
  const data = [edges ? middles(log.seconds, edges) : Array.from(log.seconds.subarray(begin, end))];
  for (const line of lines) {
    const values = line.values[measure];
    data.push(edges ? extremes(values, edges) : plain(values, begin, end));
    if (withBounds) data.push(...bounds(values, line.bound, edges, begin, end));
  }
  data.slice_s = edges ? 2 * (data[0][1] - data[0][0]) : 0;
  return data;
}

// Places at which slices of equal time begin; the last is the end.
function edgesOf(seconds, begin, end, slices) {
  const edges = new Int32Array(slices + 1);
  const first = seconds[begin];
  const width = (seconds[end - 1] - first) / slices || 1;
  edges[0] = begin;
  let place = begin;
  for (let slice = 1; slice < slices; slice++) {
    const border = first + slice * width;
    while (place < end && seconds[place] < border) place++;
    edges[slice] = place;
  }
  edges[slices] = end;
  return edges;
}

function middles(seconds, edges) {
  const slices = edges.length - 1;
  const x = new Array(2 * slices);
  const first = seconds[edges[0]];
  const width = (seconds[edges[slices] - 1] - first) / slices || 1;
  for (let slice = 0; slice < slices; slice++) {
    x[2 * slice] = first + (slice + 0.25) * width;
    x[2 * slice + 1] = first + (slice + 0.75) * width;
  }
  return x;
}

function extremes(values, edges) {
  const slices = edges.length - 1;
  const y = new Array(2 * slices);
  for (let slice = 0; slice < slices; slice++) {
    let low = Infinity;
    let high = -Infinity;
    let lowPlace = -1;
    let highPlace = -1;
    for (let place = edges[slice]; place < edges[slice + 1]; place++) {
      const value = values[place];
      if (value < low) {
        low = value;
        lowPlace = place;
      }
      if (value > high) {
        high = value;
        highPlace = place;
      }
    }
    const isKnown = lowPlace >= 0 && highPlace >= 0;
    y[2 * slice] = isKnown ? (lowPlace < highPlace ? low : high) : null;
    y[2 * slice + 1] = isKnown ? (lowPlace < highPlace ? high : low) : null;
  }
  return bridged(y, edges);
}

// A slice in which no instant lies is no gap of itself: whether a line ends there is known elsewhere.
function bridged(y, edges) {
  let known = null;
  for (let slice = 0; slice < edges.length - 1; slice++) {
    if (edges[slice] === edges[slice + 1]) y[2 * slice] = y[2 * slice + 1] = known === null ? null : undefined;
    else known = y[2 * slice + 1];
  }
  return y;
}

function plain(values, begin, end) {
  const y = new Array(end - begin);
  for (let place = begin; place < end; place++) y[place - begin] = Number.isFinite(values[place]) ? values[place] : null;
  return y;
}

// An answer v with a relative error of at most e stands for a truth between v / (1 + e) and
// v / (1 - e); from e = 1 on there is no upper end, and no band is drawn.
function bounds(values, errors, edges, begin, end) {
  if (edges === null) {
    const [low, high] = [new Array(end - begin).fill(null), new Array(end - begin).fill(null)];
    for (let place = begin; place < end; place++) {
      const [value, error] = [values[place], errors[place]];
      if (!Number.isFinite(value) || !(error < 1)) continue;
      const [near, far] = [value / (1 + error), value / (1 - error)];
      low[place - begin] = Math.min(near, far);
      high[place - begin] = Math.max(near, far);
    }
    return [low, high];
  }
  const slices = edges.length - 1;
  // One end a slice is enough: what is undefined is passed over, what is null is a gap.
  const [low, high] = [new Array(2 * slices).fill(undefined), new Array(2 * slices).fill(undefined)];
  for (let slice = 0; slice < slices; slice++) {
    let [lowest, highest] = [Infinity, -Infinity];
    for (let place = edges[slice]; place < edges[slice + 1]; place++) {
      const [value, error] = [values[place], errors[place]];
      if (!(error < 1) || value !== value) continue;
      const near = value / (1 + error);
      const far = value / (1 - error);
      lowest = Math.min(lowest, near, far);
      highest = Math.max(highest, near, far);
    }
    const isEmpty = edges[slice] === edges[slice + 1];
    const isKnown = lowest <= highest;
    low[2 * slice] = isKnown ? lowest : isEmpty ? undefined : null;
    high[2 * slice] = isKnown ? highest : isEmpty ? undefined : null;
  }
  return [low, high];
}
