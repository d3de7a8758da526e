import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { MAX_ITEMS } from '../../../functions/src/core/decisions/fan-out.ts';
import { MAX_STEPS } from '../../../functions/src/core/graph/graph.ts';
import type { Handle, StepFactory } from '../../../functions/src/engine/define/types.ts';
import { defineWorkflow } from '../../../functions/src/engine/define/workflow.ts';
import { LONGEST_STEP_MS } from '../../../functions/src/engine/settings.ts';

/** As somebody writes it whom no compiler holds back. */
type Loose = (id: string, options?: unknown, body?: unknown) => Handle<never>;
type LooseFactory = Loose & Record<'map' | 'approval' | 'event' | 'sleep' | 'child', Loose>;

function defining(steps: (step: LooseFactory) => Record<string, unknown>, more: object = {}): () => unknown {
  return () =>
    defineWorkflow({
      type: 'wrong',
      planVersion: 1,
      input: z.object({}),
      steps: (step: StepFactory<object>) => steps(step as unknown as LooseFactory) as never,
      ...more,
    });
}

const body = () => 1;
const ask = () => '?';
const key = () => 'k';
const over = () => [1];
const input = () => ({});

type Kind = 'step' | 'map' | 'approval' | 'event' | 'sleep' | 'child';
/** Each kind with all that it must have. */
const COMPLETE: Readonly<Record<Kind, object>> = {
  step: {},
  map: { over },
  approval: { ask },
  event: { event: 'built', key },
  sleep: { for: '1h' },
  child: { workflow: 'other', input },
};

/** Defines one step, called `bad`, with these options beside those it must have. */
function one(kind: Kind, options: object): () => unknown {
  return defining((step) => {
    const all = { ...COMPLETE[kind], ...options };
    const handle = kind === 'step' ? step('bad', all, body) : step[kind]('bad', all, body);
    return { bad: handle };
  });
}

function refusal(define: () => unknown): { code?: string; field?: string; message?: string } {
  try {
    define();
  } catch (error) {
    return error as object;
  }
  return {};
}

test.each<Kind>(['step', 'map', 'approval', 'event', 'sleep', 'child'])(
  'a %s with all that it must have is accepted, so that what follows is refused for what it says',
  (kind) => {
    expect(one(kind, {})).not.toThrow();
  },
);

describe('a step is refused at definition, by its name, for', () => {
  test.each<[string, Kind, object, string, string]>([
    ['a timeout that is none', 'step', { timeout: 'soon' }, 'bad.timeout', '"soon" is not a duration'],
    ['a negative timeout', 'map', { timeout: -1 }, 'bad.timeout', '-1 is not a duration'],
    [
      'a timeout that outlasts a drive',
      'step',
      { timeout: LONGEST_STEP_MS + 1 },
      'bad',
      'does not fit one drive; the longest is',
    ],
    [
      'a heartbeat timeout that is none',
      'step',
      { heartbeatTimeout: '1 minute' },
      'bad.heartbeatTimeout',
      'is not a duration',
    ],
    [
      'no attempt at all',
      'step',
      { retry: { maxAttempts: 0 } },
      'bad.retry.maxAttempts',
      'a whole number from 1',
    ],
    [
      'half an attempt',
      'map',
      { retry: { maxAttempts: 1.5 } },
      'bad.retry.maxAttempts',
      'a whole number from 1',
    ],
    [
      'a negative delay',
      'step',
      { retry: { initialMs: -1 } },
      'bad.retry.initialMs',
      'a number of ms from 0',
    ],
    [
      'a retry by another name',
      'step',
      { retry: { max: 3 } },
      'bad.retry',
      "in 'retry' there is no option 'max'",
    ],
    [
      'an error whose retry goes by another name',
      'map',
      { retry: { perError: [{ match: 'A' }, { match: 'B', attempts: 1 }] } },
      'bad.retry.perError[1]',
      "there is no option 'attempts'",
    ],
    ['a shrinking delay', 'step', { retry: { factor: 0.5 } }, 'bad.retry.factor', 'a number from 1'],
    [
      'a cap that is none',
      'step',
      { retry: { capMs: Number.NaN } },
      'bad.retry.capMs',
      'a number of ms from 0',
    ],
    [
      'a policy for one error that makes no sense',
      'step',
      { retry: { perError: [{ match: 'A' }, { match: 'B', maxAttempts: -1 }] } },
      'bad.retry.perError[1].maxAttempts',
      'retry.perError[1].maxAttempts must be a whole number from 1',
    ],
    [
      'an unknown policy on failure',
      'step',
      { onFailure: 'ignore' },
      'bad',
      "'fail', 'skip' or { degradeTo: value }",
    ],
    [
      'no policy on failure',
      'approval',
      { onFailure: null },
      'bad',
      "'fail', 'skip' or { degradeTo: value }",
    ],
    [
      'a value to degrade to that is no JSON',
      'step',
      { onFailure: { degradeTo: { at: new Date(0) } } },
      'bad.onFailure.degradeTo.at',
      'bad.onFailure.degradeTo.at',
    ],
    ['no concurrency', 'map', { concurrency: 0 }, 'bad', "'concurrency' must be a whole number from 1"],
    ['a concurrency that is none', 'child', { over, concurrency: 1.5 }, 'bad', "'concurrency' must be"],
    ['no items', 'map', { over: undefined }, 'bad', "needs the function 'over'"],
    ['items that are no function', 'child', { over: [1] }, 'bad', "needs the function 'over'"],
    [
      'a negative tolerance',
      'map',
      { completion: { tolerate: -1 } },
      'bad',
      "'tolerate' must be a whole number",
    ],
    [
      'a tolerance beyond the most items',
      'map',
      { completion: { tolerate: MAX_ITEMS + 1 } },
      'bad',
      `'tolerate' must be a whole number from 0 to ${MAX_ITEMS}`,
    ],
    [
      'a share beyond all',
      'map',
      { completion: { tolerate: '101%' } },
      'bad',
      "a count, or a share like '10%'",
    ],
    [
      'a share without a sign',
      'map',
      { completion: { tolerate: '10' } },
      'bad',
      "a count, or a share like '10%'",
    ],
    [
      'a share of nothing',
      'child',
      { over, completion: { tolerate: '%' } },
      'bad',
      "a count, or a share like '10%'",
    ],
    ['half a success', 'map', { completion: { atLeast: 0.5 } }, 'bad', "'atLeast' must be a whole number"],
    ['nothing to ask', 'approval', { ask: undefined }, 'bad', "needs the function 'ask'"],
    ['a question that is no function', 'approval', { ask: 'ok?' }, 'bad', "needs the function 'ask'"],
    ['a time to decide that is none', 'approval', { timeout: 'never' }, 'bad.timeout', 'is not a duration'],
    [
      'an escalation at no time',
      'approval',
      { escalate: { after: 'later', text: 'hurry' } },
      'bad.escalate.after',
      'is not a duration',
    ],
    [
      'an escalation that is a novel',
      'approval',
      { escalate: { after: '1h', text: 'x'.repeat(1_001) } },
      'bad',
      'may have 1000 characters',
    ],
    ['an event without a name', 'event', { event: '' }, 'bad', "'event' names what it waits for"],
    ['an event with no name', 'event', { event: undefined }, 'bad', "'event' names what it waits for"],
    ['an event with too long a name', 'event', { event: 'x'.repeat(101) }, 'bad', 'in 1 to 100 characters'],
    ['an event that could be any', 'event', { key: undefined }, 'bad', "needs the function 'key'"],
    ['an event that must come at no time', 'event', { timeout: '' }, 'bad.timeout', 'is not a duration'],
    ['a sleep without an end', 'sleep', { for: undefined }, 'bad', "either 'for' or 'until'"],
    ['a sleep with two ends', 'sleep', { until: 1 }, 'bad', "either 'for' or 'until'"],
    ['a sleep that lasts no time', 'sleep', { for: '1 day' }, 'bad.for', '"1 day" is not a duration'],
    [
      'a child that runs nothing',
      'child',
      { workflow: undefined },
      'bad',
      "'workflow' says what the child runs",
    ],
    ['a child without an input', 'child', { input: undefined }, 'bad', "needs the function 'input'"],
    ['a child that may take no time', 'child', { timeout: 'x' }, 'bad.timeout', 'is not a duration'],
    [
      'a need that hides the input',
      'step',
      { needs: { input: { id: 'a' } } },
      'bad',
      "cannot be called 'input'",
    ],
    ['a need that hides the item', 'map', { needs: { item: { id: 'a' } } }, 'bad', "cannot be called 'item'"],
    ['a need that is nothing', 'step', { needs: { gone: undefined } }, 'bad', "the need 'gone' is no step"],
  ])('%s', (_, kind, options, field, message) => {
    const error = refusal(one(kind, options));
    expect(error).toMatchObject({ code: 'INVALID_INPUT', field });
    expect(error.message).toContain(message);
    expect(error.message).toContain('bad');
  });

  test.each<Kind>(['step', 'map', 'approval', 'event', 'sleep', 'child'])(
    'an option that it does not have: a %s',
    (kind) => {
      const error = refusal(one(kind, { timeuot: '5s' }));
      expect(error).toMatchObject({ code: 'INVALID_INPUT', field: 'bad' });
      expect(error.message).toContain(
        "workflow 'wrong': step 'bad': there is no option 'timeuot'; there are: ",
      );
    },
  );

  test.each<Kind>(['step', 'map'])('no body: a %s', (kind) => {
    const without = (step: LooseFactory) =>
      (kind === 'step' ? step : step.map)('bad', COMPLETE[kind], undefined);
    const error = refusal(defining((step) => ({ bad: without(step) })));
    expect(error).toMatchObject({ code: 'INVALID_INPUT', field: 'bad' });
    expect(error.message).toContain("step 'bad': has no body");
  });
});

describe('a workflow is refused at definition for', () => {
  const fine = (step: LooseFactory) => ({ a: step('a', {}, body) });
  const cases: readonly [string, () => unknown, string, string][] = [
    ['a type with capitals', defining(fine, { type: 'Bad' }), 'type', "'Bad' must be lower-case words"],
    ['a type that is too long', defining(fine, { type: 'x'.repeat(101) }), 'type', 'lower-case words'],
    ['a version that is none', defining(fine, { planVersion: 0 }), 'planVersion', 'positive integer, not 0'],
    ['half a version', defining(fine, { planVersion: 1.5 }), 'planVersion', 'positive integer'],
    [
      'a time for the run that is none',
      defining(fine, { timeout: 'x' }),
      'wrong.timeout',
      'wrong.timeout "x"',
    ],
    [
      'an option there is not',
      defining(fine, { retries: 3 }),
      'options',
      "there is no option 'retries'; there are: input, on",
    ],
    ['no schema of its input', defining(fine, { input: undefined }), 'input', "'input' is a Zod schema"],
    [
      'no function that declares the steps',
      defining(fine, { steps: [] }),
      'steps',
      "needs the function 'steps'",
    ],
    ['no steps', defining(() => ({})), 'steps', 'at least one step'],
    [
      'a result that was forgotten',
      defining((step) => void fine(step) as never),
      'steps',
      "'steps' returns the handles of the run's outputs by name, not undefined",
    ],
    [
      'steps that are declared later',
      defining((step) => Promise.resolve(fine(step)) as never),
      'steps',
      'by name, not a promise',
    ],
    [
      'a result that is no step',
      defining((step) => ({ ...fine(step), b: undefined })),
      'steps',
      "the result 'b' is no handle",
    ],
    [
      'a result that is a step of another workflow',
      defining((step) => ({ ...fine(step), b: { id: 'elsewhere' } })),
      'steps',
      "the result 'b' is no handle",
    ],
    [
      'a need that is a step of another workflow',
      defining((step) => ({ a: step('a', { needs: { other: { id: 'elsewhere' } } }, body) })),
      'steps',
      'step "a" needs "elsewhere", which does not exist',
    ],
    [
      'two steps of one name',
      defining((step) => ({ ...fine(step), b: step.sleep('a', { for: 1 }) })),
      'steps',
      `workflow 'wrong': step "a" is declared twice`,
    ],
    [
      'a name that no document could have',
      defining((step) => ({ a: step('a/b', {}, body) })),
      'steps',
      'step "a/b" has no valid id',
    ],
    [
      'steps that wait for each other',
      defining((step) => ({
        a: step('a', { needs: { b: { id: 'b' } } }, body),
        b: step('b', { needs: { a: { id: 'a' } } }, body),
      })),
      'steps',
      'is part of a cycle: a needs b needs a',
    ],
    [
      'more steps than a snapshot holds',
      defining((step) => {
        for (let i = 0; i < MAX_STEPS; i += 1) step(`s${i}`, {}, body);
        return fine(step);
      }),
      'steps',
      `may have ${MAX_STEPS} steps; this one has ${MAX_STEPS + 1}`,
    ],
  ];
  test.each(cases)('%s', (_, define, field, message) => {
    const error = refusal(define);
    expect(error).toMatchObject({ code: 'INVALID_INPUT', field });
    expect(error.message).toContain(message);
  });
});
