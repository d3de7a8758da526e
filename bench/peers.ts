/**
 * Runs the same workloads on other engines in the same session, so that the figures are comparable. Needs the folder named by
 * `PEERS`: one subfolder per engine, whose `run.sh` appends a line of JSON per figure to the file named by `OUT`.
 *
 * Must not: install anything, or measure the project itself.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figures } from './suite.ts';

/** Figures by name; the name includes the unit. */
export type PeerFigures = Partial<Record<FigureName, number>>;

export const FIGURE_NAMES = [
  'W1 ms',
  'W1 warm ms',
  'W2 runs/s',
  'W3 100 ms/step',
  'W3 1000 ms/step',
  'W3 5000 ms/step',
  'W4 ms',
  'W5 ms',
] as const;
type FigureName = (typeof FIGURE_NAMES)[number];

interface Peer {
  readonly name: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Polls its database every 5 ms instead of every second, which is the fastest setting of that engine. */
const PEERS: readonly Peer[] = [
  { name: 'Restate', folder: 'restate', env: { W: '1,2,3,4,5' } },
  {
    name: 'openworkflow',
    folder: 'openworkflow',
    env: { W: '1,2,3,4,5', BACKEND: 'sqlite', POLL: '5', W3NS: '100,1000' },
  },
];

/** Longest one engine may take; its own limits are below. */
const LIMIT_MS = 600_000;

interface PeerLine {
  readonly w: string;
  readonly n?: number;
  readonly med?: number;
  readonly runsPerS?: number;
  readonly perStep?: number;
}

/** @throws Error naming the missing part of the folder `PEERS`. Called before anything is measured */
export function assertPeers(folder: string | undefined): asserts folder is string {
  if (!folder) throw new Error('PEERS must name the folder in which the other engines are installed');
  for (const peer of PEERS) {
    const script = scriptOf(folder, peer);
    if (!existsSync(script)) throw new Error(`${peer.name} is not installed: ${script} does not exist`);
  }
}

/** One pass over every engine. @throws Error with the error output of an engine that fails */
export async function measurePeers(folder: string): Promise<ReadonlyMap<string, PeerFigures>> {
  const found = new Map<string, PeerFigures>();
  for (const peer of PEERS) found.set(peer.name, await measure(folder, peer));
  return found;
}

async function measure(folder: string, peer: Peer): Promise<PeerFigures> {
  const scratch = mkdtempSync(join(tmpdir(), 'cairn-peer-'));
  const out = join(scratch, 'figures.jsonl');
  try {
    const child = spawn('bash', [scriptOf(folder, peer)], {
      env: { ...process.env, ...peer.env, OUT: out },
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: LIMIT_MS,
    });
    let complaints = '';
    child.stderr.on('data', (chunk) => {
      complaints = `${complaints}${chunk}`.slice(-2_000);
    });
    const [code] = await once(child, 'close');
    if (code !== 0 || !existsSync(out))
      throw new Error(`${peer.name} ended with code ${code}:\n${complaints}`);
    const lines = readFileSync(out, 'utf8').split('\n').filter(Boolean);
    return figuresOf(lines.map((line) => JSON.parse(line) as PeerLine));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function scriptOf(folder: string, peer: Peer): string {
  return join(folder, peer.folder, 'run.sh');
}

/** Figures in another engine's output, under our names. */
export function figuresOf(lines: readonly PeerLine[]): PeerFigures {
  const figures: PeerFigures = {};
  for (const { w, n, med, runsPerS, perStep } of lines) {
    if (w === 'W1' && med !== undefined) figures['W1 ms'] = med;
    if (w === 'W2' && runsPerS !== undefined) figures['W2 runs/s'] = runsPerS;
    const chain = FIGURE_NAMES.find((name) => name === `W3 ${n} ms/step`);
    if (w === 'W3' && chain && perStep !== undefined) figures[chain] = perStep;
    if (w === 'W4' && med !== undefined) figures['W4 ms'] = med;
    if (w === 'W5' && med !== undefined) figures['W5 ms'] = med;
  }
  return figures;
}

/** Our own figures by the same names. */
export function ownFigures({ W1, W2, W3, W4, W5, 'W1-warm': warm }: Figures): PeerFigures {
  const figures: PeerFigures = {};
  if (W1) figures['W1 ms'] = W1.medianMs;
  if (warm) figures['W1 warm ms'] = warm.medianMs;
  if (W2) figures['W2 runs/s'] = W2.runsPerS;
  for (const { steps, msPerStep } of W3 ?? []) {
    const name = FIGURE_NAMES.find((one) => one === `W3 ${steps} ms/step`);
    if (name) figures[name] = msPerStep;
  }
  if (W4) figures['W4 ms'] = W4.medianMs;
  if (W5) figures['W5 ms'] = W5.medianMs;
  return figures;
}

/**
 * Speed relative to the other engine, for each common figure; below 1 the other is faster. With several passes, the caller takes
 * the median first. Both of our W1 are compared with the single W1 of the other engine.
 */
export function speedRatios(own: PeerFigures, other: PeerFigures): PeerFigures {
  const ratios: PeerFigures = {};
  for (const name of FIGURE_NAMES) {
    const [mine, theirs] = [own[name], other[name === 'W1 warm ms' ? 'W1 ms' : name]];
    if (mine === undefined || theirs === undefined) continue;
    const ratio = name.endsWith('/s') ? mine / theirs : theirs / mine;
    ratios[name] = Number(ratio.toFixed(2));
  }
  return ratios;
}
