/**
 * The project and the other engines by turns, so that whatever else the machine does meets all of them, and the medians
 * side by side.
 */
import type { WorkloadName } from './arguments.ts';
import { FIGURE_NAMES, measurePeers, ownFigures, type PeerFigures, speedRatios } from './peers.ts';
import { median, rounded } from './statistics.ts';
import { type Figures, runSuite, type SuiteOptions } from './suite.ts';

export interface Comparison {
  readonly rounds: number;
  /** Medians over the rounds. */
  readonly figures: Readonly<Record<string, PeerFigures>>;
  /** Speed relative to the named engine. */
  readonly ratios: Readonly<Record<string, PeerFigures>>;
}

const OWN = 'cairn';
const COMPARED = new Set<WorkloadName>(['W1', 'W2', 'W3', 'W4', 'W5']);

export async function compare(options: {
  readonly suite: Omit<SuiteOptions, 'only'>;
  readonly rounds: number;
  /** Folder of the other engines; see measurePeers. */
  readonly folder: string;
  /** The figures of the first round, if they were measured already. */
  readonly first?: Figures;
}): Promise<Comparison> {
  const { suite, rounds, folder, first } = options;
  const measured = new Map<string, PeerFigures[]>();
  const note = (name: string, figures: PeerFigures) => {
    measured.set(name, [...(measured.get(name) ?? []), figures]);
  };
  for (let round = 0; round < rounds; round += 1) {
    const own = round === 0 && first ? first : await runSuite({ ...suite, only: COMPARED });
    note(OWN, ownFigures(own));
    for (const [name, figures] of await measurePeers(folder)) note(name, figures);
  }
  const figures = Object.fromEntries([...measured].map(([name, all]) => [name, medians(all)]));
  const own = figures[OWN] ?? {};
  const others = Object.entries(figures).filter(([name]) => name !== OWN);
  return {
    rounds,
    figures,
    ratios: Object.fromEntries(others.map(([name, other]) => [name, speedRatios(own, other)])),
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
export function table({ figures, ratios }: Comparison): string[] {
  const names = Object.keys(figures);
  const cell = (value: number | undefined) => (value === undefined ? '–' : String(value)).padStart(14);
  const head = `${''.padEnd(18)}${names.map((name) => name.padStart(14)).join('')}   times as fast as ${Object.keys(ratios).join(', ')}`;
  const rows = FIGURE_NAMES.map((figure) => {
    const values = names.map((name) => cell(figures[name]?.[figure])).join('');
    const times = Object.values(ratios).map((ratio) => String(ratio[figure] ?? '–'));
    return `${figure.padEnd(18)}${values}   ${times.join(', ')}`;
  });
  return [head, ...rows];
}
