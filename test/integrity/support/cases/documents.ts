/** Damage of checkpoints, large values and documents of steps. */

import { encodeKey } from '../../../../packages/cairn/src/core/encoding/idempotency-keys.ts';
import { seqId } from '../../../../packages/cairn/src/core/encoding/ids.ts';
import { completed, startedLarge, successor, waiting } from '../runs.ts';
import { type Case, checkpointOf } from './case.ts';

export const DOCUMENTS: readonly Case[] = [
  {
    code: 'CHECKPOINT_MISSING',
    how: 'of a boundary without an output',
    run: completed,
    damage: (bench) => bench.shelf.delete('checkpoints', checkpointOf(bench, 'run_started')),
    repair: 'healed',
  },
  {
    code: 'CHECKPOINT_MISSING',
    how: 'with an output that its event tells in full',
    run: completed,
    damage: (bench) => bench.shelf.delete('checkpoints', checkpointOf(bench, 'short')),
    repair: 'healed',
  },
  {
    code: 'CHECKPOINT_MISSING',
    how: 'with an output that another step has as well',
    run: completed,
    damage: (bench) => bench.shelf.delete('checkpoints', checkpointOf(bench, 'twin')),
    repair: 'healed',
  },
  {
    code: 'CHECKPOINT_MISSING',
    how: 'with an output that nobody else has',
    run: completed,
    damage: (bench) => bench.shelf.delete('checkpoints', checkpointOf(bench, 'last')),
    repair: 'refused',
  },
  {
    code: 'CHECKPOINT_MISSING',
    how: 'with the result of the run',
    run: completed,
    damage: (bench) => bench.shelf.delete('checkpoints', checkpointOf(bench, 'run_finished')),
    repair: 'refused',
  },
  {
    code: 'CHECKPOINT_MISSING',
    how: 'with the input of the run',
    run: startedLarge,
    damage: (bench) => bench.shelf.delete('checkpoints', checkpointOf(bench, 'run_created')),
    repair: 'refused',
  },
  {
    code: 'CHECKPOINT_UNREADABLE',
    how: 'its time is a number',
    run: completed,
    damage: (bench) => bench.shelf.change('checkpoints', checkpointOf(bench, 'long'), { at: 5 }),
    repair: 'healed',
  },
  {
    code: 'CHECKPOINT_UNREADABLE',
    how: 'its time is a number, and its output is nowhere else',
    run: completed,
    damage: (bench) => bench.shelf.change('checkpoints', checkpointOf(bench, 'last'), { at: 5 }),
    repair: 'refused',
  },
  {
    code: 'CHECKPOINT_DIFFERENT',
    how: 'it follows another one, and counts other tokens',
    run: completed,
    damage: (bench) =>
      bench.shelf.change('checkpoints', checkpointOf(bench, 'last'), {
        parent: 1,
        tokensUsed: { input: 1, output: 1 },
      }),
    repair: 'healed',
  },
  {
    code: 'CHECKPOINT_DIFFERENT',
    how: 'of one with a large output',
    run: completed,
    damage: (bench) => bench.shelf.change('checkpoints', checkpointOf(bench, 'huge'), { stepId: 'huger' }),
    repair: 'healed',
  },
  {
    code: 'CHECKPOINT_OUTPUT_WRONG',
    how: 'the output was changed, and is nowhere else',
    run: completed,
    damage: (bench) => bench.shelf.change('checkpoints', checkpointOf(bench, 'last'), { output: '"y"' }),
    repair: 'refused',
  },
  {
    code: 'CHECKPOINT_OUTPUT_WRONG',
    how: 'the output was changed, and its event tells it in full',
    run: completed,
    damage: (bench) => bench.shelf.change('checkpoints', checkpointOf(bench, 'short'), { output: '2' }),
    repair: 'healed',
  },
  {
    code: 'CHECKPOINT_OUTPUT_WRONG',
    how: 'the result was changed',
    run: completed,
    damage: (bench) =>
      bench.shelf.change('checkpoints', checkpointOf(bench, 'run_finished'), { output: '{"long":""}' }),
    repair: 'refused',
  },
  {
    code: 'CHECKPOINT_ORPHANED',
    how: 'there is one of an event that makes none',
    run: completed,
    damage: (bench) =>
      bench.shelf.put(
        'checkpoints',
        seqId(2),
        bench.shelf.members('checkpoints', checkpointOf(bench, 'long')),
      ),
    repair: 'healed',
  },
  {
    code: 'ORIGIN_LOST',
    how: 'the run that was resumed has lost what was taken over',
    run: async () => (await successor('resume')).made,
    damage: ({ world, runId }) => {
      for (const [id, run] of world.db.runs) if (id !== runId) run.checkpoints.clear();
    },
    repair: 'refused',
  },
  {
    code: 'PAYLOAD_DAMAGED',
    how: 'its chunks are gone',
    run: completed,
    damage: ({ world }) => world.db.payloads.clear(),
    repair: 'refused',
  },
  {
    code: 'STEP_MISSING',
    how: 'it is deleted',
    run: completed,
    damage: ({ shelf }) => shelf.delete('steps', 'long'),
    repair: 'healed',
  },
  {
    code: 'STEP_UNREADABLE',
    how: 'its kind is a number',
    run: completed,
    damage: ({ shelf }) => shelf.change('steps', 'long', { kind: 7 }),
    repair: 'healed',
  },
  {
    code: 'STEP_DIFFERENT',
    how: 'it says that the step failed',
    run: completed,
    damage: ({ shelf }) => shelf.change('steps', 'long', { status: 'failed', errorTrace: 'no' }),
    repair: 'healed',
  },
  {
    code: 'STEP_DIFFERENT',
    how: 'two have changed places',
    run: completed,
    damage: ({ shelf }) => {
      const [long, short] = [shelf.members('steps', 'long'), shelf.members('steps', 'short')];
      shelf.put('steps', 'long', short);
      shelf.put('steps', 'short', long);
    },
    repair: 'healed',
  },
  {
    code: 'STEP_ORPHANED',
    how: 'there is one of a step that never began',
    run: waiting,
    damage: ({ shelf }) =>
      shelf.put('steps', encodeKey('never[0]'), { ...shelf.members('steps', 'first'), id: 'never[0]' }),
    repair: 'healed',
  },
];
