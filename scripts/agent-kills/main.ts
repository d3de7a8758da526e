/**
 * `npm run agent-kills`: agents on a local cloud with real processes, whose worker is killed in the middle of a tool call, until
 * enough workers have been killed. The last line of standard output is one line of JSON: `right` are runs whose order
 * was charged exactly once, `asked` those of them in which a person was asked first. The exit code is 0 only if none is wrong.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Ready, startCloudProcess } from '../../packages/local/src/cloud-process.ts';
import { countsOf } from '../flags.ts';
import { builtFunctions } from '../test-functions/built.ts';
import { follow, isRight, type Outcome } from './order.ts';
import { KINDS, RECEIVER_ENV, Receiver } from './receiver.ts';

const USAGE = `npm run agent-kills -- [options]

  --kills N      worker processes to kill (default: 200)
  --seed N       decides the moments (default: 1)
  --lanes N      agents at a time (default: 6)
  --workers N    worker processes (default: 3)
  --limit N      seconds that a run may take (default: 400)
  --help         print this
`;

const { kills, seed, lanes, workers, limit } = countsOf(USAGE, {
  kills: 200,
  seed: 1,
  lanes: 6,
  workers: 3,
  limit: 400,
});
const limitMs = limit * 1_000;

const began = performance.now();
const folder = mkdtempSync(join(tmpdir(), 'cairn-agent-kills-'));
const receiver = await Receiver.start(seed);
const outcomes: Outcome[] = [];
const problems: string[] = [];
let orders = 0;
const cloud = await startCloudProcess({
  data: join(folder, 'data'),
  functionsModule: builtFunctions(join(import.meta.dirname, 'functions.ts')),
  workers,
  // A run whose dispatch died in a call continues when its lease expires.
  env: { [RECEIVER_ENV]: receiver.url, CAIRN_LEASE_MS: '5000' },
});
try {
  await Promise.all(Array.from({ length: lanes }, () => lane(cloud.ready)));
} finally {
  cloud.process.kill('SIGTERM');
  await cloud.ended;
  receiver.stop();
  rmSync(folder, { recursive: true, force: true });
}

const wrong = outcomes.filter((outcome) => !isRight(outcome));
for (const outcome of wrong) console.error(`wrong: ${JSON.stringify(outcome)}`);
for (const problem of problems) console.error(problem);
const ok = wrong.length === 0 && problems.length === 0 && receiver.kills >= kills;
const totals = {
  ok,
  kills: receiver.kills,
  runs: outcomes.length,
  right: outcomes.length - wrong.length,
  asked: outcomes.filter(({ asked }) => asked).length,
  wrong: wrong.length,
  problems: problems.length,
  seed,
  seconds: Math.round((performance.now() - began) / 1_000),
};
console.log(JSON.stringify(totals));
process.exitCode = ok ? 0 : 1;

async function lane(ready: Ready): Promise<void> {
  while (receiver.kills < kills && problems.length === 0) {
    const number = orders;
    orders += 1;
    const kind = KINDS[number % KINDS.length] ?? 'dedupes';
    try {
      const outcome = await follow(ready, receiver, {
        order: `order-${number}`,
        kind,
        limitMs,
      });
      outcomes.push(outcome);
      const { order, asked, times } = outcome;
      console.error(
        `${order} (${kind}): charged ${times}×${asked ? ', a person was asked' : ''} · ${receiver.kills} kills`,
      );
    } catch (error) {
      problems.push(String(error));
    }
  }
}
