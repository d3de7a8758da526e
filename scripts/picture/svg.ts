/** Draws terminal lines as a looping SVG animation that shows them one after another. Pure. */

export interface PictureLine {
  /** Epoch ms. The picture shortens long pauses. */
  readonly at: number;
  readonly parts: readonly { readonly text: string; readonly tone: string }[];
}

/** Between two lines, s. */
const PAUSE = { least: 0.12, most: 1.6 } as const;
/** Time for which the complete picture is shown before it restarts, s. */
const HOLD_S = 6;
const FONT = 13;
/** Approximate width of a character. */
const CHAR = 7.83;
const LINE = 20;
const MARGIN = 16;

/** Colours for a dark background, independent of the page. */
const COLOURS: Readonly<Record<string, string>> = {
  plain: '#d7dde3',
  dim: '#8b98a5',
  good: '#7fd19b',
  bad: '#ff8f8f',
  warn: '#f2c46d',
  wait: '#f2c46d',
  busy: '#7cc7e8',
  bold: '#ffffff',
};

/** @param title read aloud in place of the picture */
export function pictureOf(lines: readonly PictureLine[], title: string): string {
  const times = momentsOf(lines);
  const whole = (times.at(-1) ?? 0) + HOLD_S;
  const chars = Math.max(
    ...lines.map(({ parts }) => parts.reduce((sum, { text }) => sum + [...text].length, 0)),
  );
  const width = Math.ceil(chars * CHAR + 2 * MARGIN);
  const height = lines.length * LINE + 2 * MARGIN;
  const frames = times.map((at, n) => keyframes(n, at / whole)).join('');
  const rows = lines.map((line, n) => row(line, n)).join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<style>
text{font:${FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}
${Object.entries(COLOURS)
  .map(([tone, colour]) => `.${tone}{fill:${colour}}`)
  .join('')}
g{animation:${whole.toFixed(2)}s step-end infinite}
${frames}
@media (prefers-reduced-motion:reduce){g{animation:none}}
</style>
<rect width="100%" height="100%" rx="8" fill="#12181f"/>
${rows}
</svg>
`;
}

/** Time at which each line appears, s. */
function momentsOf(lines: readonly PictureLine[]): number[] {
  let now = 0;
  return lines.map(({ at }, n) => {
    const before = lines[n - 1];
    if (before) now += Math.min(PAUSE.most, Math.max(PAUSE.least, (at - before.at) / 1_000));
    return now;
  });
}

function keyframes(n: number, share: number): string {
  const percent = (share * 100).toFixed(2);
  return share === 0 ? '' : `@keyframes l${n}{0%{opacity:0}${percent}%,100%{opacity:1}}`;
}

function row({ parts }: PictureLine, n: number): string {
  const spans = parts.map(({ text, tone }) => `<tspan class="${tone}">${escaped(text)}</tspan>`).join('');
  const y = MARGIN + n * LINE + FONT;
  return `<g style="animation-name:l${n}"><text x="${MARGIN}" y="${y}" xml:space="preserve">${spans}</text></g>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (one) => `&#${one.codePointAt(0)};`);
}
