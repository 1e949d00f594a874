// Where a line breaks off: between two of its points there was a time at which it had no value.

/** For uPlot's `gaps`: `isBroken(place, next)` says whether a line ends between two known points. */
export function gapsWhere(isBroken) {
  return (plot, series, from, to, gaps) => {
    const [x, y] = [plot.data[0], plot.data[series]];
    const pixel = (place) => plot.valToPos(x[place], "x", true);
    let known = null;
    for (let place = from; place <= to; place++) {
      if (y[place] === undefined) continue;
      if (y[place] !== null && known !== null && isBroken(known, place)) gaps.push([pixel(known), pixel(place)]);
      known = y[place] === null ? null : place;
    }
    return gaps.sort(([one], [other]) => one - other);
  };
}

/** Whether a group was gone between two seconds; slice: how exact these are, 0 where they are. */
export function wasGone({ ends, everyS }, from, to, slice) {
  if (to - from <= slice) return false;
  if (everyS !== null && to - from > 1.5 * everyS + slice) return true;
  const place = firstNotBefore(ends, from - slice);
  return place < ends.length && ends[place] < to + slice;
}

function firstNotBefore(sorted, value) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
