/** Root font size at the browser's default font, px; see `styles/base.css`. */
const DEFAULT_PX = 14;
let scale: number | undefined;

/**
 * The browser's font size relative to its default. Scripts multiply heights in px by it to match the style sheets, which use
 * rem. It is read once, so a change of the font takes effect after a reload.
 */
export function textScale(): number {
  scale ??= Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / DEFAULT_PX;
  return scale;
}
