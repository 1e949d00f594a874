// The colours of the theme as values, for what is drawn on a canvas.
export function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    text: of("text"),
    muted: of("muted"),
    line: of("line"),
    lineStrong: of("line-strong"),
    accent: of("accent"),
    surface: of("surface"),
    good: of("good"),
    warn: of("warn"),
    bad: of("bad"),
    series: Array.from({ length: 8 }, (_, place) => of(`series-${place}`)),
  };
}

/** The colour with so much opacity; colours of the theme are #rrggbb. */
export function faded(colour, opacity) {
  return colour + Math.round(opacity * 255).toString(16).padStart(2, "0");
}
