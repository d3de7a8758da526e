/** Statistics of runs. Pure. */
import { ago, duration } from '@cairn/client';
import type { Answer } from 'cairn/api/calls';
import type { OutputShape } from '../context.ts';
import { type Column, table } from '../render/table.ts';
import { moment } from '../render/time.ts';
import { costText, section } from './run-page.ts';

type StatisticsAnswer = Answer<'RunStatistics'>;
type VersionStatistics = StatisticsAnswer['versions'][number];
type Cause = StatisticsAnswer['causes'][number];

const UNITS = [
  ['minute', 60_000],
  ['hour', 3_600_000],
  ['day', 86_400_000],
] as const;

/** @param now epoch ms */
export function statisticsText(found: StatisticsAnswer, now: number, shape: OutputShape): string {
  const { total, versions, causes, from, until, isCut, unreadable } = found;
  const notes = [
    isCut ? `Only the newest ${total.runs} runs were read: figures are from ${moment(from)} on.` : '',
    unreadable > 0 ? `${unreadable} runs with damaged documents are not counted.` : '',
  ].filter(Boolean);
  const head = [
    `${moment(from)} to ${moment(until)}`,
    `${total.runs} runs, ${rateText(found)}: ${endsText(total)}`,
    `failures ${shareText(total)}, duration ${timesText(total)}`,
    `cost ${costText(total.cost)}`,
    ...notes.map((note) => shape.style.paint('warn', note)),
  ];
  return [
    `${head.join('\n')}\n`,
    section('By version', table(versions, VERSIONS, shape), shape),
    section('Failures by cause', table(causes, causesOf(now), shape), shape),
  ].join('');
}

function endsText({ completed, failed, cancelled, live, suspects }: StatisticsAnswer['total']): string {
  const parts = [
    [completed, 'completed'],
    [failed, 'failed'],
    [cancelled, 'cancelled'],
    [live, 'live'],
    [suspects, 'suspect'],
  ] as const;
  const some = parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return some.length === 0 ? 'none' : some.join(', ');
}

/** Uses the unit in which the rate is at least one. */
export function rateText({ from, until, total }: Pick<StatisticsAnswer, 'from' | 'until' | 'total'>): string {
  const ms = Math.max(1, Date.parse(until) - Date.parse(from));
  const [unit, length] = UNITS.find(([, each]) => (total.runs * each) / ms >= 1) ?? UNITS[2];
  const rate = (total.runs * length) / ms;
  return `${rate >= 10 ? Math.round(rate) : Number(rate.toFixed(1))} per ${unit}`;
}

/** A dash where no run completed or failed. */
export function shareText({ failureShare }: Pick<StatisticsAnswer['total'], 'failureShare'>): string {
  if (failureShare === undefined) return '-';
  const percent = failureShare * 100;
  return `${percent === 0 || percent >= 10 ? Math.round(percent) : percent.toFixed(1)} %`;
}

function timesText({ p50Ms, p95Ms }: StatisticsAnswer['total']): string {
  if (p50Ms === undefined || p95Ms === undefined) return '-';
  return `p50 ${duration(p50Ms)}, p95 ${duration(p95Ms)}`;
}

const count = (value: number) => (value === 0 ? '' : String(value));
const time = (ms: number | undefined) => (ms === undefined ? '' : duration(ms));

const VERSIONS: readonly Column<VersionStatistics>[] = [
  { title: 'WORKFLOW', of: ({ type, planVersion }) => `${type} v${planVersion}`, least: 12 },
  { title: 'RUNS', of: ({ runs }) => String(runs), align: 'right' },
  { title: 'DONE', of: ({ completed }) => count(completed), align: 'right', dropOrder: 2 },
  { title: 'FAILED', of: ({ failed }) => count(failed), align: 'right', tone: () => 'bad' },
  { title: 'SHARE', of: shareText, align: 'right' },
  { title: 'LIVE', of: ({ live }) => count(live), align: 'right', dropOrder: 1 },
  { title: 'P50', of: ({ p50Ms }) => time(p50Ms), align: 'right' },
  { title: 'P95', of: ({ p95Ms }) => time(p95Ms), align: 'right' },
];

function causesOf(now: number): readonly Column<Cause>[] {
  return [
    { title: 'RUNS', of: ({ runs }) => String(runs), align: 'right' },
    { title: 'WORKFLOW', of: ({ type }) => type, least: 10, dropOrder: 2 },
    { title: 'CODE', of: ({ code }) => code, tone: () => 'bad', least: 12 },
    { title: 'STEP', of: ({ step = '' }) => step, least: 8 },
    { title: 'NEWEST', of: ({ last }) => ago(last.at, now), align: 'right', dropOrder: 1 },
    { title: 'RUN', of: ({ last }) => last.runId.slice(0, SHORT_ID) },
    { title: 'MESSAGE', of: ({ last }) => last.message, least: 12, dropOrder: 3 },
  ];
}

/** `run_` and the six characters by which the command line finds a run. */
const SHORT_ID = 10;
