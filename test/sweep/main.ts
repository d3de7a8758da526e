/**
 * `npm run sweep`: stops the world at every call of every scenario and reports whether all recovered; see docs/sweep.md. The
 * last line of standard output is the totals, as JSON. The exit code is 0 only if every crash point recovered and every run
 * that the store refused ended or was named.
 */
import { flagsOf } from '../../scripts/flags.ts';
import { MODES } from './calls.ts';
import { verdictOn } from './judge.ts';
import { Performance } from './performance.ts';
import { describePoint } from './plan.ts';
import { type RefusedTotals, sweepRefusals } from './refusals.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios/index.ts';
import { type Finding, performPoint, rehearse, sweep, type Totals } from './sweep.ts';
import { timelineOf } from './timeline.ts';

/** Interval between the tried refusals, of some 12,000. It is a prime, so that every kind occurs at every place. */
const EVERY_REFUSAL = 11;
/** Findings printed in full; the rest are counted. */
const PRINTED = 20;

const USAGE = `npm run sweep -- [options]

  --scenario NAME    only this scenario (default: all)
  --point N          with --scenario: replay one crash point, and print the journals
  --mode NAME        only the points of one kind of failure: ${MODES.join(', ')}
  --list             print the names of the scenarios
  --help             print this
`;

const values = flagsOf(USAGE, {
  scenario: { type: 'string' },
  point: { type: 'string' },
  mode: { type: 'string' },
  list: { type: 'boolean' },
});

const modes = MODES.filter((mode) => mode === values.mode);
const chosen = scenarios.filter(({ name }) => values.scenario === undefined || name === values.scenario);
if (chosen.length === 0) {
  console.error(
    `no scenario '${values.scenario}'; there are: ${scenarios.map(({ name }) => name).join(', ')}`,
  );
  process.exitCode = 2;
} else if (values.mode !== undefined && modes.length === 0) {
  console.error(`no mode '${values.mode}'; there are: ${MODES.join(', ')}`);
  process.exitCode = 2;
} else if (values.list) {
  for (const { name } of chosen) console.log(name);
} else if (values.point === undefined) {
  await sweepAll(chosen);
} else {
  await replay(chosen[0] as Scenario, Number(values.point));
}

async function sweepAll(all: readonly Scenario[]): Promise<void> {
  const totals: Totals[] = [];
  const findings: Finding[] = [];
  let overtakenBodies = 0;
  const refused: RefusedTotals =
    modes.length > 0
      ? { points: 0, findings: [] }
      : await sweepRefusals(all, { every: all.length === 1 ? 1 : EVERY_REFUSAL });
  tellRefused(refused);
  for (const scenario of all) {
    const began = performance.now();
    const swept = await sweep([scenario], modes.length > 0 ? { modes } : {});
    totals.push(swept.totals);
    findings.push(...swept.findings);
    overtakenBodies += swept.overtakenBodies;
    const { crashPoints, recovered } = swept.totals;
    const ms = Math.round(performance.now() - began);
    console.error(`${scenario.name}: ${recovered} of ${crashPoints} crash points recovered (${ms} ms)`);
  }
  for (const { scenario, point, where, verdict } of findings.slice(0, PRINTED)) {
    const why = verdict.kind === 'recovered' ? '' : verdict.why;
    console.error(`\n${verdict.kind}: --scenario ${scenario} --point ${point}\n  ${where}\n  ${why}`);
  }
  if (findings.length > PRINTED) console.error(`\n… and ${findings.length - PRINTED} more`);
  console.error(
    `${overtakenBodies} bodies that may run twice began in a dispatch that had not yet been told of their success`,
  );
  const sum = (name: keyof Totals) => totals.reduce((total, one) => total + one[name], 0);
  const line: Totals = {
    scenarios: all.length,
    crashPoints: sum('crashPoints'),
    recovered: sum('recovered'),
    lost: sum('lost'),
    stuck: sum('stuck'),
    repeatedCompletedSteps: sum('repeatedCompletedSteps'),
    duplicateEffects: sum('duplicateEffects'),
    silentlyDropped: sum('silentlyDropped'),
  };
  console.log(JSON.stringify(line));
  const clean = line.lost + line.stuck + line.repeatedCompletedSteps + line.duplicateEffects === 0;
  const isClean = clean && refused.findings.length === 0;
  process.exitCode = isClean && line.recovered === line.crashPoints ? 0 : 1;
}

function tellRefused({ points, findings }: RefusedTotals): void {
  console.error(`refusals: ${points - findings.length} of ${points} runs ended or were named`);
  for (const { scenario, point, why } of findings.slice(0, PRINTED))
    console.error(`\nrefused: --scenario ${scenario}\n  ${JSON.stringify(point)}\n  ${why}`);
}

async function replay(scenario: Scenario, number: number): Promise<void> {
  const { points, calls, expected, limitMs } = await rehearse(scenario);
  const point = points[number];
  if (!point) {
    console.error(`'${scenario.name}' has the points 0 to ${points.length - 1}`);
    process.exitCode = 2;
    return;
  }
  const disturbed = await performPoint(scenario, point, { limitMs });
  const verdict = verdictOn(scenario, disturbed, expected);
  console.log(`${scenario.name}, point ${number}: ${describePoint(point, calls)}`);
  console.log(`\nundisturbed\n${timelineOf(await new Performance(scenario).perform())}`);
  console.log(`\ndisturbed\n${timelineOf(disturbed)}`);
  console.log(`\n${JSON.stringify(verdict, undefined, 2)}`);
  process.exitCode = verdict.kind === 'recovered' ? 0 : 1;
}
