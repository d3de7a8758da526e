/** The report of a sweep. Pure. */
import type { SweepDifference, SweepReport } from 'cairn/testing';
import type { OutputShape } from '../context.ts';

/** Maximum of failure kinds shown in full; one mistake usually causes one or two. */
const MAX_SHOWN = 10;

export function sweepText(report: SweepReport, { style }: OutputShape): string {
  const { name, points, recovered, failures, repeatedBodies } = report;
  const failed = points - recovered;
  const end =
    failed === 0 ? style.paint('good', 'all recovered') : style.paint('bad', `${failed} not recovered`);
  const bodies = Object.entries(repeatedBodies).map(([body, times]) => `${body} (${pointsText(times)})`);
  const kinds = [...Map.groupBy(failures, kindOf).values()];
  return [
    `${name}: ${pointsText(points)}, ${end}`,
    ...(bodies.length === 0 ? [] : [`  ran again after a crash: ${bodies.join(', ')}`]),
    ...kinds.slice(0, MAX_SHOWN).flatMap((kind) => ['', ...failureLines(kind)]),
    ...(kinds.length > MAX_SHOWN
      ? ['', `  and ${kinds.length - MAX_SHOWN} other kinds of failure; --json has all`]
      : []),
    '',
  ].join('\n');
}

/** Failures of one kind differ only in the number of the call. */
function kindOf({ label, moment, differences }: SweepDifference): string {
  return JSON.stringify([label, moment, differences.map((text) => text.replace(/run_[a-z2-7]+/g, 'run'))]);
}

function failureLines(kind: readonly SweepDifference[]): string[] {
  const [first] = kind;
  if (first === undefined) return [];
  const others = kind.length > 1 ? ` (${pointsText(kind.length)})` : '';
  return [
    `  crash ${first.moment} '${first.label}', call ${first.call}${others}`,
    ...first.differences.map((text) => `    ${text}`),
  ];
}

function pointsText(points: number): string {
  return points === 1 ? '1 crash point' : `${points} crash points`;
}
