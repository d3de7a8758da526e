/** Root font size of a browser whose font is not set otherwise, px; see `styles/base.css`. */
const DEFAULT_PX = 14;
let scale: number | undefined;

/**
 * Size of the text relative to its default, as set in the browser. Heights that scripts need in px are multiplied by it, and then agree with
 * the style sheets, which have them in rem. Read once, so a change of the browser's font takes effect when the page is loaded again.
 */
export function textScale(): number {
  scale ??= Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / DEFAULT_PX;
  return scale;
}
