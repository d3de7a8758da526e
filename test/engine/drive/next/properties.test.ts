import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { statusOfSet } from '../../../../packages/cairn/src/core/decisions/item-progress.ts';
import { Fatal } from '../../../../packages/cairn/src/core/errors.ts';
import type { Handle, StepFactory } from '../../../../packages/cairn/src/engine/define/types.ts';
import { startReady } from '../../../../packages/cairn/src/engine/drive/next/begin.ts';
import { Dispatch } from './dispatch.ts';

type Factory = StepFactory<Record<string, unknown>>;
type End = 'done' | 'large' | 'skip' | 'fail' | 'retry';

interface Node {
  readonly needs: readonly number[];
  readonly runsAnyway: boolean;
  readonly end: End;
}

/** Steps that need some of those before them. */
const graphs = fc
  .array(
    fc.record({
      picks: fc.array(fc.nat(9), { maxLength: 3 }),
      runsAnyway: fc.boolean(),
      end: fc.constantFrom<End>('done', 'done', 'done', 'large', 'skip', 'retry'),
    }),
    { minLength: 1, maxLength: 9 },
  )
  .map((drawn) =>
    drawn.map(({ picks, ...node }, at): Node => {
      return { ...node, needs: at === 0 ? [] : [...new Set(picks.map((pick) => pick % at))] };
    }),
  );

/** Ends of bodies and commands in any order, as numbers that pick from what there is. */
const orders = fc.infiniteStream(fc.nat(1_000));

/** Steps whose bodies end when they are told to. */
function controlled(nodes: readonly Node[]) {
  const waiting = new Map<string, () => void>();
  const attempts = new Map<string, number>();
  const body = (id: string, end: End) => () => {
    const attempt = (attempts.get(id) ?? 0) + 1;
    attempts.set(id, attempt);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    waiting.set(id, () => {
      waiting.delete(id);
      if (end === 'retry' && attempt === 1) reject(new Error('once more'));
      else if (end === 'fail') reject(new Fatal('no'));
      else resolve(end === 'large' ? 'x'.repeat(600_000) : id);
    });
    return promise;
  };
  const steps = (step: Factory) => {
    const handles: Handle<string>[] = [];
    nodes.forEach(({ needs, runsAnyway, end }, at) => {
      const id = `s${at}`;
      const options = {
        needs: Object.fromEntries(needs.map((need) => [`n${need}`, handles[need] as Handle<string>])),
        when: () => end !== 'skip',
        retry: { initialMs: 0 },
        ...(runsAnyway && { ifSkipped: 'run' as const }),
      };
      handles.push(step(id, options as never, body(id, end) as never));
    });
    return Object.fromEntries(handles.map((handle) => [handle.id, handle]));
  };
  return { steps, waiting };
}

/** Steps that are skipped, by the definition. */
function skippedOf(nodes: readonly Node[]): Set<number> {
  const skipped = new Set<number>();
  nodes.forEach(({ needs, runsAnyway, end }, at) => {
    if (end === 'skip' || (!runsAnyway && needs.some((need) => skipped.has(need)))) skipped.add(at);
  });
  return skipped;
}

/** Performs the dispatch in the order of `picks`; `check` sees it after each turn. */
async function perform(
  dispatch: Dispatch,
  waiting: ReadonlyMap<string, () => void>,
  { picks, check }: { readonly picks: Iterator<number>; readonly check: () => void },
): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) {
    startReady(dispatch.working);
    check();
    await dispatch.settle();
    const ready: (() => unknown)[] = [
      ...[...waiting.values()],
      ...dispatch.mailbox.slice(0, 1).map((message) => () => dispatch.next(dispatch.take(message.kind))),
      ...(dispatch.commands.length > 0 ? [() => dispatch.carryOut()] : []),
      ...(dispatch.world.clock.nextAt === dispatch.now ? [() => dispatch.world.clock.fireNext()] : []),
    ];
    const chosen = ready[(picks.next().value ?? 0) % Math.max(1, ready.length)];
    if (!chosen) return;
    await chosen();
  }
  throw new Error('the dispatch does not end');
}

describe('in any graph, for any order of ends of bodies and commits', () => {
  test('each step ends once, after its needs, and exactly the steps are skipped that must be', async () => {
    await fc.assert(
      fc.asyncProperty(
        graphs,
        orders,
        fc.integer({ min: 1, max: 3 }),
        async (nodes, picks, concurrentSteps) => {
          const { steps, waiting } = controlled(nodes);
          const skipped = skippedOf(nodes);
          const follows = new Set(
            [...skipped].filter((at) => nodes[at]?.needs.some((need) => skipped.has(need))),
          );
          const dispatch = await Dispatch.of(steps as never, { settings: { concurrentSteps } });
          const { working } = dispatch;
          const seen = new Set<string>();
          const check = () => {
            expect(working.bodies.size).toBeLessThanOrEqual(concurrentSteps);
            const { state } = dispatch.journal;
            for (const key of dispatch.begun) {
              if (seen.has(key)) continue;
              seen.add(key);
              for (const need of nodes[Number(key.slice(1))]?.needs ?? []) {
                // Skips that follow from what the journal has are not waited for.
                if (!follows.has(need)) expect(state.steps.get(`s${need}`)?.phase).toBe('done');
              }
            }
            // While there is room, everything that can begin has begun.
            if (working.room > 0) expect(working.tracker.ready(1)).toEqual([]);
            expect(working.tracker.skippable()).toEqual([]);
            // The dispatch does not end before the run does.
            if (working.unsettled > 0 && dispatch.mailbox.length === 0)
              expect(dispatch.concluded()).toBe('wait');
          };
          await perform(dispatch, waiting, { picks, check });
          expect(dispatch.failures).toEqual([]);
          expect(working.unsettled).toBe(0);
          expect(dispatch.concluded()).toBe('completed');
          const events = await dispatch.world.store.readEvents(dispatch.journal.state.id, 0, 1_000);
          const ends = events.filter(({ type }) => type === 'step_succeeded' || type === 'step_skipped');
          expect(ends.map(({ data }) => (data as { stepId: string }).stepId).toSorted()).toEqual(
            nodes.map((_, at) => `s${at}`).toSorted(),
          );
          const skips = ends.filter(({ type }) => type === 'step_skipped');
          expect(
            new Set(skips.map(({ data }) => Number((data as { stepId: string }).stepId.slice(1)))),
          ).toEqual(skipped);
        },
      ),
      { numRuns: 60 },
    );
  });
});

const completions = fc.oneof(
  fc.record({ tolerate: fc.nat(4) }),
  fc.record({ atLeast: fc.integer({ min: 1, max: 4 }) }),
);

describe('in any set, for any order of ends of items', () => {
  test('the set ends once, by its rule, when none of its items runs', async () => {
    const items = fc.array(fc.constantFrom<End>('done', 'fail', 'retry'), { maxLength: 7 });
    await fc.assert(
      fc.asyncProperty(
        items,
        completions,
        fc.integer({ min: 1, max: 3 }),
        orders,
        async (ends, completion, concurrency, picks) => {
          const waiting = new Map<string, () => void>();
          const begun = new Map<number, number>();
          const steps = (step: Factory) => ({
            m: step.map(
              'm',
              { over: () => ends, completion, concurrency, retry: { initialMs: 0 }, onFailure: 'skip' },
              ({ item, index }) => {
                const attempt = (begun.get(index) ?? 0) + 1;
                begun.set(index, attempt);
                const { promise, resolve, reject } = Promise.withResolvers<number>();
                waiting.set(String(index), () => {
                  waiting.delete(String(index));
                  if (item === 'fail') reject(new Fatal('no'));
                  else if (item === 'retry' && attempt === 1) reject(new Error('once more'));
                  else resolve(index);
                });
                return promise;
              },
            ),
          });
          const dispatch = await Dispatch.of(steps);
          const check = () => {
            expect(waiting.size).toBeLessThanOrEqual(concurrency);
            const { unsettled } = dispatch.working;
            if (unsettled > 0 && dispatch.mailbox.length === 0) expect(dispatch.concluded()).toBe('wait');
          };
          await perform(dispatch, waiting, { picks, check });
          const events = await dispatch.world.store.readEvents(dispatch.journal.state.id, 0, 1_000);
          const counts = { items: ends.length, succeeded: 0, failed: 0 };
          for (const { type, data } of events) {
            if (!('itemKey' in data)) continue;
            if (type === 'step_succeeded') counts.succeeded += 1;
            if (type === 'step_failed') counts.failed += 1;
          }
          const rule =
            'atLeast' in completion
              ? ({ kind: 'at_least', successes: completion.atLeast } as const)
              : ({ kind: 'tolerate', failures: completion.tolerate } as const);
          const status = statusOfSet(rule, counts);
          const own = events.filter(
            ({ type, data }) =>
              (type === 'step_succeeded' || type === 'step_skipped') && !('itemKey' in data),
          );
          expect(own.map(({ type }) => type)).toEqual([
            status === 'succeeded' ? 'step_succeeded' : 'step_skipped',
          ]);
          expect(status).not.toBe('open');
          // No item begins once the set is decided.
          expect(dispatch.working.bodies.size).toBe(0);
          expect([...begun.keys()].toSorted((a, b) => a - b)).toEqual([...begun.keys()].map((_, at) => at));
        },
      ),
      { numRuns: 60 },
    );
  });
});
