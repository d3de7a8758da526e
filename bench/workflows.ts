/**
 * The workflows that are measured. Each step returns about 200 bytes at once, so that what is measured is the engine.
 *
 * Must not: do anything a user's workflow could not do.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { Workflow } from '../functions/src/engine/define/steps.ts';
import type { Handle, StepFactory } from '../functions/src/engine/define/types.ts';
import { defineWorkflow } from '../functions/src/engine/define/workflow.ts';

/** About 200 bytes as JSON, the same as the benchmarks of the other engines return. */
const payload = (i: number) => ({ i, ok: true, note: 'x'.repeat(160) });
type Payload = ReturnType<typeof payload>;

const NOTHING = z.object({});

/** `seq-{length}`: one step after the other. */
export function sequence(length: number): Workflow {
  return defineWorkflow({
    type: `seq-${length}`,
    planVersion: 1,
    input: NOTHING,
    steps(step: StepFactory<Record<never, never>>) {
      return { last: chained(step, length) };
    },
  });
}

/** `fan-{width}`: that many steps at once, and one that takes all their outputs. */
export function fan(width: number): Workflow {
  return defineWorkflow({
    type: `fan-${width}`,
    planVersion: 1,
    input: NOTHING,
    steps(step: StepFactory<Record<never, never>>) {
      const needs = Object.fromEntries(
        Array.from({ length: width }, (_, i) => [`s${i}`, step(`s${i}`, () => payload(i))]),
      );
      return {
        join: step('join', { needs }, (outputs) => ({
          joined: Object.keys(needs).filter((name) => name in outputs).length,
        })),
      };
    },
  });
}

/**
 * `fatal-{length}`: like `seq-{length}`, but its last step kills the process that runs it, with SIGKILL, the first time.
 * Everything before it is recorded by then. `mark` is the file that tells the first time from the second, and when.
 */
export function fatal(length: number): Workflow {
  return defineWorkflow({
    type: `fatal-${length}`,
    planVersion: 1,
    input: z.object({ mark: z.string() }),
    steps(step) {
      const before = chained(step, length - 1);
      const last = step('last', { needs: { before } }, ({ input }) => {
        if (!existsSync(input.mark)) {
          writeFileSync(input.mark, String(Date.now()));
          process.kill(process.pid, 'SIGKILL');
        }
        return payload(length);
      });
      return { last };
    },
  });
}

function chained<Input>(step: StepFactory<Input>, length: number): Handle<Payload> {
  let last: Handle<Payload> = step('s1', () => payload(1));
  for (let i = 2; i <= length; i += 1) {
    last = step(`s${i}`, { needs: { before: last } }, () => payload(i));
  }
  return last;
}
