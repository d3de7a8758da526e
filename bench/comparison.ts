/**
 * Measures the project, with both durabilities, and the other engines alternately, so that other load of the machine affects all
 * of them. Compares the medians.
 */
import type { BenchData, WorkloadName } from './arguments.ts';
import { FIGURE_NAMES, measurePeers, ownFigures, type PeerFigures, speedRatios } from './peers.ts';
import { median, rounded } from './statistics.ts';
import { type Figures, runSuite, type SuiteOptions } from './suite.ts';

export interface Comparison {
  readonly rounds: number;
  /** Medians over the rounds. */
  readonly figures: Readonly<Record<string, PeerFigures>>;
  /** Speed relative to another engine, by our name, then the name of the engine. */
  readonly ratios: Readonly<Record<string, Readonly<Record<string, PeerFigures>>>>;
}

interface Own {
  readonly name: string;
  readonly data: BenchData;
}

const COMPARED = new Set<WorkloadName>(['W1', 'W2', 'W3', 'W4', 'W5', 'W1-warm']);

/** The default storage is measured together with the one that is as durable as the other engines. */
export function durabilitiesOf(data: BenchData): readonly Own[] {
  const own = { name: data === 'sync' ? 'cairn sync' : 'cairn', data };
  return data === 'sqlite' ? [own, { name: 'cairn sync', data: 'sync' }] : [own];
}

export async function compare(options: {
  readonly suite: Omit<SuiteOptions, 'only'>;
  readonly rounds: number;
  /** Folder of the other engines; see measurePeers. */
  readonly folder: string;
  /** Figures of the first round, if already measured. */
  readonly first?: Figures;
}): Promise<Comparison> {
  const { suite, rounds, folder, first } = options;
  const own = durabilitiesOf(suite.data);
  const measured = new Map<string, PeerFigures[]>();
  const note = (name: string, figures: PeerFigures) => {
    measured.set(name, [...(measured.get(name) ?? []), figures]);
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, data } of own) {
      const isMeasured = round === 0 && data === suite.data;
      const found = isMeasured && first ? first : await runSuite({ ...suite, data, only: COMPARED });
      note(name, ownFigures(found));
    }
    for (const [name, figures] of await measurePeers(folder)) note(name, figures);
  }
  const figures = Object.fromEntries([...measured].map(([name, all]) => [name, medians(all)]));
  const names = own.map(({ name }) => name);
  const others = Object.entries(figures).filter(([name]) => !names.includes(name));
  const ratiosOf = (mine: PeerFigures) =>
    Object.fromEntries(others.map(([name, other]) => [name, speedRatios(mine, other)]));
  return {
    rounds,
    figures,
    ratios: Object.fromEntries(names.map((name) => [name, ratiosOf(figures[name] ?? {})])),
  };
}

function medians(all: readonly PeerFigures[]): PeerFigures {
  const found: PeerFigures = {};
  for (const name of FIGURE_NAMES) {
    const values = all.flatMap((figures) => figures[name] ?? []);
    if (values.length > 0) found[name] = rounded(median(values), 2);
  }
  return found;
}

/** The comparison as lines of text, one figure a line. */
export function table({ figures, ratios }: Pick<Comparison, 'figures' | 'ratios'>): string[] {
  const names = Object.keys(figures);
  const pairs = Object.entries(ratios).flatMap(([own, others]) =>
    Object.entries(others).map(([other, ratio]) => ({ head: `${own} : ${other}`, ratio })),
  );
  const cell = (value: number | string | undefined) => `  ${String(value ?? '–').padStart(14)}`;
  const times = ({ head }: { head: string }, value: number | string | undefined) =>
    `  ${String(value ?? '–').padStart(head.length)}`;
  const head = [...names.map(cell), ...pairs.map((pair) => times(pair, pair.head))].join('');
  const rows = FIGURE_NAMES.map((figure) => {
    const values = names.map((name) => cell(figures[name]?.[figure]));
    return [figure.padEnd(16), ...values, ...pairs.map((pair) => times(pair, pair.ratio[figure]))].join('');
  });
  return [`${''.padEnd(16)}${head}`, ...rows, 'a : b is how many times as fast a is'];
}
