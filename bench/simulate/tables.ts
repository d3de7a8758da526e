/** The tables of docs/scale.md and docs/prices.md. Each row can be reproduced with its flags. */
import { readArguments } from './arguments.ts';
import { simulate } from './core/simulate.ts';
import { type Figure, LIMITS, PRICES, SEEN } from './limits.ts';
import { PEERS } from './peers.ts';
import { type Report, reportOf, seconds } from './report.ts';
import type { Profile } from './traffic/profile.ts';
import { record } from './traffic/record.ts';

export interface Table {
  readonly document: 'docs/scale.md' | 'docs/prices.md';
  readonly name: string;
  readonly text: string;
}

interface Scenario {
  readonly words: string;
  /** True if a current installation can be configured like this. */
  readonly exists: string;
}

const AS_DEPLOYED = 'as deployed';
const BY_PARAMETERS = 'by parameters';

/** Ten steps that take no time. */
const SHORT: readonly Scenario[] = [
  { words: '--rate 100 --for 10s', exists: AS_DEPLOYED },
  { words: '--rate 100 --for 10s --new-database', exists: AS_DEPLOYED },
  { words: '--rate 500 --for 5s', exists: AS_DEPLOYED },
  { words: '--rate 500 --for 5s --queues 10', exists: BY_PARAMETERS },
  { words: '--rate 1000 --for 4s', exists: AS_DEPLOYED },
  { words: '--rate 1000 --for 4s --queues 20', exists: BY_PARAMETERS },
  { words: '--rate 10000 --for 1s --rest 10s', exists: AS_DEPLOYED },
  {
    words:
      '--rate 10000 --for 1s --tenants 100 --queues 200 --queues-per-tenant 4 --shards 64 --instances 250 --api-instances 80',
    exists: BY_PARAMETERS,
  },
];

/** Ten steps of 15 s. */
const LONG: readonly Scenario[] = [
  { words: '--rate 100 --body 15s --parallel --for 40s', exists: AS_DEPLOYED },
  { words: '--rate 10 --body 15s --for 320s --rest 10s', exists: AS_DEPLOYED },
];

/** Ten steps of 30 s at once; the first tenant adds ten times as many starts as come from all. */
const FLOOD = '--rate 30 --body 30s --parallel --for 40s --rest 200s';
const FLOODS: readonly { readonly what: string; readonly words: string }[] = [
  { what: '1, and nobody floods', words: FLOOD },
  { what: '1, which is as deployed', words: `${FLOOD} --flood 300` },
  { what: '4, all of them for everybody', words: `${FLOOD} --flood 300 --queues 4 --queues-per-tenant 0` },
  { what: '20, two of them for each tenant', words: `${FLOOD} --flood 300 --queues 20` },
  { what: '100, two of them for each tenant', words: `${FLOOD} --flood 300 --queues 100` },
  { what: '400, two of them for each tenant', words: `${FLOOD} --flood 300 --queues 400` },
];

/** The runs of the first second after a rest are cold. */
const COSTS: readonly { readonly what: string; readonly words: string }[] = [
  { what: 'one region, busy', words: '--rate 100 --for 10s' },
  { what: 'one region, one run a second', words: '--rate 1 --for 120s' },
  { what: 'one region, cold', words: '--rate 20 --for 1s --cold' },
  { what: '`nam5`, busy', words: '--rate 100 --for 10s --location nam5' },
  { what: '`nam5`, one run a second', words: '--rate 1 --for 120s --location nam5' },
  { what: '`nam5`, cold', words: '--rate 20 --for 1s --cold --location nam5' },
];

export async function allTables(): Promise<Table[]> {
  const reports = new Reports();
  const costs = await reports.ofAll(COSTS);
  return [
    { document: 'docs/scale.md', name: 'short runs', text: loads(await reports.ofAll(SHORT)) },
    { document: 'docs/scale.md', name: 'long bodies', text: loads(await reports.ofAll(LONG)) },
    { document: 'docs/scale.md', name: 'one tenant floods', text: floods(await reports.ofAll(FLOODS)) },
    {
      document: 'docs/scale.md',
      name: 'what each limit bears',
      text: bears(await reports.ofAll(SHORT.slice(0, 1))),
    },
    { document: 'docs/scale.md', name: 'limits', text: figures(Object.values(LIMITS)) },
    { document: 'docs/prices.md', name: 'latency and price of a run', text: latencies(costs) },
    { document: 'docs/prices.md', name: 'parts of the price', text: parts(costs) },
    { document: 'docs/prices.md', name: 'the aim', text: aim(costs) },
    { document: 'docs/prices.md', name: 'list prices', text: figures(Object.values(PRICES)) },
    { document: 'docs/prices.md', name: 'others', text: peers(costs) },
  ];
}

/** Replaces the text after each table's mark, up to the next empty line. Throws if a mark is missing. */
export function withTables(document: string, tables: readonly Table[]): string {
  let text = document;
  for (const { name, text: shown } of tables) {
    const mark = `<!-- simulated: ${name} -->\n`;
    const from = text.indexOf(mark) + mark.length;
    if (from < mark.length) throw new Error(`there is no mark for '${name}'`);
    const to = text.indexOf('\n\n', from);
    text = text.slice(0, from) + shown + (to < 0 ? '\n' : text.slice(to));
  }
  return text;
}

interface Row<S> {
  readonly scenario: S;
  readonly report: Report;
}

/** The traffic of each kind of run is recorded once. */
class Reports {
  readonly #profiles = new Map<string, Promise<Profile>>();

  async ofAll<S extends { readonly words: string }>(scenarios: readonly S[]): Promise<Row<S>[]> {
    const rows: Row<S>[] = [];
    for (const scenario of scenarios) rows.push({ scenario, report: await this.#of(scenario.words) });
    return rows;
  }

  async #of(words: string): Promise<Report> {
    const given = readArguments(words.split(' '));
    const key = JSON.stringify(given.traffic);
    const known = this.#profiles.get(key) ?? record(given.traffic);
    this.#profiles.set(key, known);
    const profile = await known;
    return reportOf(given, profile, simulate(profile, given.plan));
  }
}

function loads(rows: readonly Row<Scenario>[]): string {
  return table(
    ['`npm run simulate --`', 'exists', 'borne', 'run: median', 'p99', 'lowest limit, runs a second'],
    rows.map(({ scenario, report: { result, ceilings } }) => [
      `\`${scenario.words}\``,
      scenario.exists,
      result.holds ? 'yes' : '**no**',
      ...(result.holds && result.run
        ? [seconds(result.run.p50), seconds(result.run.p99)]
        : ['grows', 'grows']),
      ceilings
        .slice(0, 1)
        .map(({ limit, runsPerSecond }) => `${limit}: ${whole(runsPerSecond)}`)
        .join(),
    ]),
  );
}

function floods(rows: readonly Row<(typeof FLOODS)[number]>[]): string {
  return table(
    ['queues', 'p95 wait of the others', 'p95 wait of the tenant that floods', 'ended of those started'],
    rows.map(({ scenario: { what }, report: { result } }) => [
      what,
      seconds(result.waitOfOthers?.p95 ?? Number.NaN),
      seconds(result.waitOfFlooding?.p95 ?? Number.NaN),
      `${whole(result.ended)} of ${whole(result.started)}`,
    ]),
  );
}

function bears(rows: readonly Row<Scenario>[]): string {
  return table(
    ['limit', 'runs a second'],
    rows.flatMap(({ report }) =>
      report.ceilings.map(({ limit, runsPerSecond }) => [limit, whole(runsPerSecond)]),
    ),
  );
}

function latencies(rows: readonly Row<(typeof COSTS)[number]>[]): string {
  return table(
    ['a run of ten steps', 'median', 'p99', 'dollars for a run', 'for a million steps'],
    rows.map(({ scenario, report: { result, price, traffic } }) => [
      scenario.what,
      seconds(result.run?.p50 ?? Number.NaN),
      seconds(result.run?.p99 ?? Number.NaN),
      ((price.total * traffic.steps) / 1_000_000).toFixed(6),
      price.total.toFixed(2),
    ]),
  );
}

function parts(rows: readonly Row<(typeof COSTS)[number]>[]): string {
  const shown = rows.filter(({ scenario }) => !scenario.what.endsWith('cold'));
  const names = [
    'writes',
    'reads',
    'deletion',
    'storage',
    'tasks',
    'functions',
    'requests',
    'logs',
    'network',
    'total',
  ] as const;
  return table(
    ['dollars for a million steps', ...shown.map(({ scenario }) => scenario.what)],
    names.map((name) => [name, ...shown.map(({ report }) => report.price[name].toFixed(2))]),
  );
}

const AIM_USD = 6;

function aim(rows: readonly Row<(typeof COSTS)[number]>[]): string {
  const [busy] = rows;
  if (!busy) throw new Error('there is no price of a busy region');
  const { total, deletion } = busy.report.price;
  const met = total <= AIM_USD ? 'met' : 'missed';
  return `The aim was at most $${AIM_USD} a million steps in a busy region. It is ${met}: $${total.toFixed(2)}, and $${(total - deletion).toFixed(2)} without deletion.`;
}

function peers(rows: readonly Row<(typeof COSTS)[number]>[]): string {
  const own = rows
    .slice(0, 1)
    .map(({ report: { price } }) => [
      'Cairn, one region, busy',
      'everything in the table above',
      price.total.toFixed(2),
      'this page',
    ]);
  return table(
    ['', 'what is billed for a million steps in runs of ten', 'dollars', `source, seen ${SEEN}`],
    [...own, ...PEERS.map(({ name, billed, usd, source }) => [name, billed, usd.toFixed(2), source])],
  );
}

/** Without the settings of this repository, which docs/deploy.md has. */
function figures(rows: readonly Figure[]): string {
  return table(
    ['figure', 'of', 'basis', `source, seen ${SEEN}`],
    rows
      .filter(({ basis }) => basis !== 'deployed')
      .map(({ value, unit, basis, source }) => [exact(value), unit, basis, source]),
  );
}

/** Decimal notation: `0.0000009` and not `9e-7`. */
function exact(value: number): string {
  return value >= 1 ? whole(value, 1) : value.toFixed(10).replace(/0+$/, '');
}

function whole(value: number, digits = 0): string {
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
