import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';
import { messageOf } from '../../../packages/cairn/src/core/thrown.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import type { Log } from '../../../packages/cairn/src/ports/log.ts';
import type { JournalCommit } from '../../../packages/cairn/src/ports/run-store.ts';
import { OutcomeUnknown, StoreRefused } from '../../../packages/cairn/src/ports/store-errors.ts';
import { intercept } from '../../support/intercept.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';

const SECRET = 's3cret-address';

/** Errors that end a dispatch: of the store, or of a defect. */
const THROWN = {
  'an unknown outcome': (text: string) => new OutcomeUnknown('commit', new Error(text)),
  'a refused request': (text: string) =>
    new StoreRefused('commit', new Error(text), { code: 3, reason: 'request' }),
  'a refused installation': (text: string) =>
    new StoreRefused('commit', new Error(text), { code: 7, reason: 'installation' }),
  'an error of ours': (text: string) => new CairnError('INTERNAL', text),
  'a frozen error': (text: string) => Object.freeze(new TypeError(text)),
  'an error with a cause': (text: string) => new Error(text, { cause: new Error(text) }),
  'a text': (text: string) => text,
} as const;

const guarded = defineWorkflow({
  type: 'guarded',
  planVersion: 1,
  input: z.object({ token: z.string() }),
  secretInput: ['token'],
  steps: (step) => ({ out: step('out', () => 1) }),
});

test('an error that ends a dispatch has no secret of the input in documents, log lines, or the rethrown error', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...(Object.keys(THROWN) as (keyof typeof THROWN)[])),
      fc.constantFrom('step_succeeded', 'run_completed', 'anything'),
      fc.oneof(fc.nat(600), fc.nat(9_000)),
      async (kind, refused, before) => {
        const lines: unknown[] = [];
        const note = (event: string, fields: object = {}) => {
          const plain = (_: string, value: unknown) => (value instanceof Error ? `${value.stack}` : value);
          lines.push([event, JSON.stringify(fields, plain)]);
        };
        const log: Log = { debug: note, info: note, warn: note, error: note };
        const world = new World({ workflows: [guarded] });
        const isRefused = ({ events }: JournalCommit) =>
          refused === 'anything'
            ? !events.some(({ type }) => type === 'run_claimed' || type === 'run_released')
            : events.some(({ type }) => type === refused);
        const store = intercept(world.store, ({ method, args }, proceed) =>
          method === 'commit' && isRefused(args[0] as JournalCommit)
            ? Promise.reject(THROWN[kind](`${'x'.repeat(before)}${SECRET} was refused`))
            : proceed(),
        );
        const runId = await world.start('guarded', { token: SECRET });
        const deps = { ...world.deps, store, log };
        for (let dispatch = 0; dispatch < 2; dispatch += 1) {
          let isOver = false;
          const ended = drive(deps, { runId })
            .catch((error) => lines.push(`${messageOf(error)} ${error.stack}`))
            .finally(() => {
              isOver = true;
            });
          for (await settle(); !isOver; await settle()) world.clock.fireNext();
          await ended;
        }
        const run = world.db.runs.get(runId);
        const parts = [run?.snapshot, run?.events, [...world.db.findings]];
        const text = JSON.stringify([...parts, lines], (_, value: unknown) =>
          value instanceof Map ? [...value] : value,
        );
        expect(text).not.toContain(SECRET.slice(0, 4));
      },
    ),
    { numRuns: 60 },
  );
});
