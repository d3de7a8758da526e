/**
 * The measured workflows. Each step immediately returns about 200 bytes, so that only the engine is measured.
 *
 * Must not: do anything that a user's workflow could not do.
 */
import { existsSync } from 'node:fs';
import { z } from 'zod';
import type { Workflow } from '../packages/cairn/src/engine/define/steps.ts';
import type { Handle, StepFactory } from '../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../packages/cairn/src/engine/define/workflow.ts';
import { begins } from './beginnings.ts';

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

/** `fan-{width}`: this many parallel steps, and one that takes all their outputs. */
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
 * `fatal-{length}`: like `seq-{length}`, but its last step kills its own process with SIGKILL the first time. All earlier steps
 * are recorded by then. Each start of the step is recorded in the file `mark`.
 */
export function fatal(length: number): Workflow {
  return defineWorkflow({
    type: `fatal-${length}`,
    planVersion: 1,
    input: z.object({ mark: z.string() }),
    steps(step) {
      const before = chained(step, length - 1);
      const last = step('last', { needs: { before } }, ({ input }) => diesOnce(input.mark, length));
      return { last };
    },
  });
}

/** `fatal-flow-{length}`: like `fatal-{length}`, but its steps are operations of one flow. */
export function fatalFlow(length: number): Workflow {
  return defineWorkflow({
    type: `fatal-flow-${length}`,
    planVersion: 1,
    input: z.object({ mark: z.string() }),
    run: async (flow, { mark }) => {
      for (let i = 1; i < length; i += 1) await flow.step('turn', () => payload(i));
      return flow.step('last', () => diesOnce(mark, length));
    },
  });
}

function diesOnce(mark: string, i: number): Payload {
  const isFirst = !existsSync(mark);
  begins(mark);
  if (isFirst) process.kill(process.pid, 'SIGKILL');
  return payload(i);
}

/**
 * `held`: a step, then one whose body runs until its process is killed the first time. Each start is recorded in the file `mark`
 * with process and time.
 */
export const held: Workflow = defineWorkflow({
  type: 'held',
  planVersion: 1,
  input: z.object({ mark: z.string() }),
  steps(step) {
    const before = step('before', () => payload(1));
    const body = step('body', { needs: { before }, timeout: '5m' }, ({ input }) => {
      const isFirst = !existsSync(input.mark);
      begins(input.mark);
      return isFirst ? new Promise<Payload>(() => {}) : payload(2);
    });
    return { body };
  },
});

/**
 * `deadly`: a step whose body waits for the file `mark`.go and then kills its process, each time. Records its starts like `held`.
 */
export const deadly: Workflow = defineWorkflow({
  type: 'deadly',
  planVersion: 1,
  input: z.object({ mark: z.string() }),
  steps: (step) => ({
    body: step('body', { timeout: '5m' }, ({ input }) => {
      begins(input.mark);
      if (existsSync(`${input.mark}.go`)) process.kill(process.pid, 'SIGKILL');
      return new Promise<Payload>(() => {});
    }),
  }),
});

/** `large-items`: a map whose items return 250 KB each, together far more than an output may have. */
export const largeItems: Workflow = defineWorkflow({
  type: 'large-items',
  planVersion: 1,
  input: NOTHING,
  steps(step: StepFactory<Record<never, never>>) {
    const over = () => Array.from({ length: 1_000 }, (_, i) => i);
    return {
      items: step.map('items', { over, concurrency: 50 }, ({ item }) => `${item}`.padEnd(250_000, 'x')),
    };
  },
});

/** One step, for the children of {@link tree}. */
export const leaf: Workflow = defineWorkflow({
  type: 'leaf',
  planVersion: 1,
  input: z.object({ i: z.number() }),
  steps: (step) => ({ done: step('do', ({ input }) => payload(input.i)) }),
});

/** `tree-{children}`: this many child runs, twenty at a time. */
export function tree(children: number): Workflow {
  return defineWorkflow({
    type: `tree-${children}`,
    planVersion: 1,
    input: NOTHING,
    steps: (step) => ({
      leaves: step.child('leaves', {
        workflow: leaf,
        over: () => Array.from({ length: children }, (_, i) => i),
        concurrency: 20,
        input: ({ item }) => ({ i: item }),
      }),
    }),
  });
}

function chained<Input>(step: StepFactory<Input>, length: number): Handle<Payload> {
  let last: Handle<Payload> = step('s1', () => payload(1));
  for (let i = 2; i <= length; i += 1) {
    last = step(`s${i}`, { needs: { before: last } }, () => payload(i));
  }
  return last;
}
