/**
 * `npm run picture`: runs an order on the local cloud, kills its worker during a step, and draws the output of `cairn runs watch`
 * as docs/recovered-run.svg. Only the pace of the picture is artificial.
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { offset } from '../../packages/cli/src/render/time.ts';
import { lineOf } from '../../packages/cli/src/views/timeline.ts';
import type { RunEventView } from '../../packages/client/src/follow.ts';
import { control, getJson, type Ready, startCloudProcess } from '../../packages/local/src/cloud-process.ts';
import { flagsOf } from '../flags.ts';
import { type PictureLine, pictureOf } from './svg.ts';

const USAGE = `npm run picture -- [options]

  --out FILE    (default: docs/recovered-run.svg)
  --help        print this
`;

const { out } = flagsOf(USAGE, { out: { type: 'string' } });
const FILE = out ?? fileURLToPath(new URL('../../docs/recovered-run.svg', import.meta.url));
const KILLED_IN = 'ship';
const LOOK_MS = 100;
const LONGEST_MS = 180_000;
const MAX_CHARS = 76;
/** Hashes are truncated in the picture. */
const HASH = /([0-9a-f]{8})[0-9a-f]{40,}/g;

interface RunView {
  readonly status: string;
  readonly running: readonly { readonly step: string }[];
}

const cloud = await startCloudProcess({
  data: 'memory',
  functionsModule: fileURLToPath(new URL('./functions.ts', import.meta.url)),
});
try {
  const { ready } = cloud;
  // Warm-up: workers load their code with the first run.
  await until(ready, await start(ready), hasEnded);
  const runId = await start(ready);
  await until(ready, runId, ({ running }) => running.some(({ step }) => step === KILLED_IN));
  const { roles } = await control<Ready['pids']>(ready, 'GET', '/pids');
  const killed = { at: Date.now(), pids: roles.tasks ?? [] };
  for (const pid of killed.pids) process.kill(pid, 'SIGKILL');
  const { status } = await until(ready, runId, hasEnded);
  if (status !== 'completed') throw new Error(`the run ${status}`);
  const { items } = await getJson<{ items: RunEventView[] }>(ready, `/v1/runs/${runId}/events?limit=100`);
  if (!items.some(({ type }) => type === 'orphan_detected'))
    throw new Error('the worker was killed too late');
  writeFileSync(
    FILE,
    pictureOf(linesOf(items, killed), 'A run whose worker is killed in the middle of a step'),
  );
  console.log(`cairn: wrote ${FILE}`);
} finally {
  cloud.process.kill('SIGTERM');
  await cloud.ended;
}

function hasEnded({ status }: RunView): boolean {
  return status === 'completed' || status === 'failed';
}

async function start({ gateway, apiKey }: Ready): Promise<string> {
  const response = await fetch(`${gateway}/v1/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'order', input: {} }),
  });
  if (response.status !== 201) throw new Error(`start: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { runId: string }).runId;
}

async function until(ready: Ready, runId: string, holds: (run: RunView) => boolean): Promise<RunView> {
  const deadline = performance.now() + LONGEST_MS;
  while (performance.now() < deadline) {
    const run = await getJson<RunView>(ready, `/v1/runs/${runId}`);
    if (holds(run)) return run;
    await delay(LOOK_MS);
  }
  throw new Error(`run ${runId} did not get there in ${LONGEST_MS} ms`);
}

interface Killed {
  readonly at: number;
  readonly pids: readonly number[];
}

function linesOf(events: readonly RunEventView[], { at, pids }: Killed): PictureLine[] {
  const began = Date.parse(events[0]?.at ?? '');
  const command = (when: number, text: string): PictureLine => ({
    at: when,
    parts: [
      { text: '$ ', tone: 'dim' },
      { text, tone: 'bold' },
    ],
  });
  const lines = events.map((event): PictureLine => {
    const { mark, tone, text, more } = lineOf(event);
    const when = Date.parse(event.at);
    const rest = more === undefined ? '' : `  ${more.replace(HASH, '$1…')}`;
    const room = MAX_CHARS - text.length;
    return {
      at: when,
      parts: [
        { text: `${String(event.seq).padStart(4)} ${offset(when - began)}  `, tone: 'dim' },
        { text: `${mark} ${text}`, tone },
        { text: rest.length > room ? `${rest.slice(0, room)}…` : rest, tone: 'dim' },
      ],
    };
  });
  const kill = command(at, `kill -9 ${pids.join(' ')}`);
  return [command(began, 'cairn runs watch last'), ...lines, kill].sort((a, b) => a.at - b.at);
}
