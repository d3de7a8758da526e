/** Workers that are killed while they load a new state of their module, which must be loaded again before the next edit. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ServedCodebase, type StartWorkers } from '../../../../packages/local/src/host/served-codebase.ts';
import { signalTo } from '../../../support/processes.ts';
import { until } from '../../support.ts';
import { MANY } from '../pool-fixture.ts';

let served: ServedCodebase;
let log: string[];
beforeEach(() => {
  log = [];
  served = codebaseOf('empty-worker.ts');
});
afterEach(() => served.stop());

function codebaseOf(worker: string): ServedCodebase {
  return new ServedCodebase({
    keepsSpare: false,
    module: '',
    workerMain: join(import.meta.dirname, '../fixtures', worker),
    workers: 1,
    roles: true,
    watchdogMs: 60_000,
    region: 'r',
    output: 2,
    clockOffsetMs: () => 0,
    log: (line) => log.push(line),
  });
}

/** @param kills number of workers that are killed after they have loaded the functions, before they serve */
function loading(kills: number, env: Record<string, string> = {}) {
  let loads = 0;
  const start: StartWorkers = {
    env,
    onFunctions() {
      loads += 1;
      if (loads <= kills)
        for (const pid of served.pids.filter((one) => one !== serving)) signalTo(pid, 'SIGKILL');
      return {};
    },
  };
  const [serving] = served.pids;
  return { start, loads: () => loads };
}

test.each([0, 1, 2])(
  'a new state is loaded although %i workers are killed while they load it',
  async (kills) => {
    await served.start(loading(0).start);
    const [old] = served.pids;
    const { start, loads } = loading(kills);
    expect(await served.start(start)).toBe(true);
    expect(loads()).toBe(kills + 1);
    await until(() => served.pids.length === 1, 'the workers before to end');
    expect(served.pids).not.toContain(old);
  },
);

test('a state whose workers are always killed is given up, and the one before serves', async () => {
  await served.start(loading(0).start);
  const [old] = served.pids;
  const { start, loads } = loading(100);
  await expect(served.start(start)).rejects.toThrow(/^worker \d+ was ended by SIGKILL$/);
  expect(loads()).toBe(3);
  await until(() => served.pids.length === 1, 'the workers of the new state to end');
  expect(served.pids).toEqual([old]);
});

test('a state that cannot be loaded is tried once', async () => {
  await served.start(loading(0).start);
  await expect(served.start(loading(0, { FAILS: 'broken' }).start)).rejects.toThrow('broken');
  expect(log).toEqual([]);
});

test('a state is checked by the replacement of a worker that is killed during the check', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-killed-'));
  served = codebaseOf('dying-worker.ts');
  const answers: string[] = [];
  const { start, loads } = loading(0, { DIES: join(folder, 'died') });
  const verify: StartWorkers['verify'] = async (ask) => {
    answers.push(await (await ask(MANY.name, '/v1/workflows', {})).text());
  };
  expect(await served.start({ ...start, verify })).toBe(true);
  expect(answers).toEqual(['alive']);
  expect(loads()).toBe(1);
  rmSync(folder, { recursive: true });
});
