/** Bodies that damage built-ins of the language, in a separate process, because other tests could not continue beside them. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';

const SPOILT = [
  "JSON.stringify = () => '{}'",
  'JSON.parse = () => ({})',
  'Object.keys = () => []',
  "Array.prototype.map = () => ['x']",
  // An empty batch would never shorten the queue of the journal.
  'Array.prototype.map = () => []',
  "String.prototype.slice = () => 'x'",
  "Object.prototype.toJSON = () => 'x'",
  "Array.prototype.toJSON = () => 'x'",
  "Object.defineProperty(Object.prototype, 'status', { get: () => 'x', set() {}, configurable: true })",
  "Object.defineProperty(Object.prototype, 'waits', { value: 'x', configurable: true })",
] as const;

/**
 * For each argument: executes a run that does this and one beside it, then both again with intact built-ins. Prints a line with
 * their ends.
 */
const SCRIPT = `
  import { z } from 'zod';
  import { defineWorkflow } from './packages/cairn/src/engine/define/workflow.ts';
  import { drive } from './packages/cairn/src/engine/drive/drive.ts';
  import { assertIntact } from './packages/cairn/src/platform/instance/builtins.ts';
  import { World } from './test/support/world.ts';
  const { defineProperty, ownKeys } = Reflect;
  const { getOwnPropertyDescriptors } = Object;
  const intact = [Object.prototype, Array.prototype, String.prototype, JSON, Object].map((holder) => [holder, getOwnPropertyDescriptors(holder)]);
  const defined = (type, body) => defineWorkflow({
    type, planVersion: 1, input: z.object({}), steps: (step) => ({ a: step('a', body), b: step('b', () => [{ b: 1 }]) }),
  });
  for (const text of process.argv.slice(1)) {
    let calls = 0;
    const spoils = new Function(text);
    const world = new World({ workflows: [
      defined('hostile', () => { if (calls++ === 0) spoils(); return { a: [1] }; }),
      defined('innocent', async () => { await new Promise(setImmediate); return { a: [1] }; }),
    ] });
    const runs = [await world.start('hostile'), await world.start('innocent')];
    const tasks = runs.map(() => world.queue.take());
    await Promise.allSettled(tasks.map(({ runId }) => drive({ ...world.deps, assertIntact }, { runId })));
    for (const [holder, all] of intact) {
      for (const key of ownKeys(holder)) if (!Object.hasOwn(all, key)) delete holder[key];
      for (const key of ownKeys(all)) defineProperty(holder, key, all[key]);
    }
    await world.run();
    const ends = [];
    for (const runId of runs) {
      const { status, result } = await world.folded(runId);
      const { status: stored, waits } = world.db.runs.get(runId).snapshot;
      ends.push([status, stored, waits, result.text]);
    }
    console.log(JSON.stringify(ends));
  }`;

/** Ends after each of `SPOILT`, in order, from one process, because loading the engine takes a second. */
let ends: readonly string[];
let complaints: string;
beforeAll(() => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', SCRIPT, ...SPOILT], {
    cwd: join(import.meta.dirname, '../../..'),
    encoding: 'utf8',
  });
  ends = stdout.trimEnd().split('\n');
  complaints = stderr;
});

test.each(SPOILT)('nothing is recorded after %s, and all runs complete elsewhere', (spoils) => {
  expect(complaints).toBe('');
  const end = ['completed', 'completed', [], '{"a":{"a":[1]},"b":[{"b":1}]}'];
  expect(JSON.parse(ends[SPOILT.indexOf(spoils)] ?? 'null')).toEqual([end, end]);
});
