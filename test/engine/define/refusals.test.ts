import { describe, expect, test } from '@jest/globals';
import { MAX_ITEMS } from '../../../packages/cairn/src/core/run/limits.ts';
import { LONGEST_STEP_ANYWHERE_MS } from '../../../packages/cairn/src/engine/settings.ts';
import { defining, type LooseFactory, refusal } from './loosely.ts';

const body = () => 1;
const ask = () => '?';
const key = () => 'k';
const over = () => [1];
const input = () => ({});

type Kind = 'step' | 'map' | 'approval' | 'event' | 'sleep' | 'child' | 'loop';
/** Each kind with all required options. */
const COMPLETE: Readonly<Record<Kind, object>> = {
  step: {},
  map: { over },
  approval: { ask },
  event: { event: 'built', key },
  sleep: { for: '1h' },
  child: { workflow: 'other', input },
  loop: { state: () => 0, while: () => false, body, max: 3 },
};

/** Defines one step, called `bad`, with these options beside the required ones. */
function one(kind: Kind, options: object): () => unknown {
  return defining((step) => {
    const all = { ...COMPLETE[kind], ...options };
    const own = kind === 'loop' ? undefined : body;
    const handle = kind === 'step' ? step('bad', all, own) : step[kind]('bad', all, own);
    return { bad: handle };
  });
}

test.each<Kind>(['step', 'map', 'approval', 'event', 'sleep', 'child', 'loop'])(
  'a complete %s is accepted, so that each refusal below has only its stated cause',
  (kind) => {
    expect(one(kind, {})).not.toThrow();
  },
);

describe('a step is refused at definition, by its name, for', () => {
  test.each<[string, Kind, object, string, string]>([
    ['an invalid timeout', 'step', { timeout: 'soon' }, 'bad.timeout', '"soon" is not a duration'],
    ['an invalid estimate', 'step', { estimate: { usd: -1 } }, 'bad.estimate.usd', 'bad.estimate.usd'],
    ['a negative timeout', 'map', { timeout: -1 }, 'bad.timeout', '-1 is not a duration'],
    [
      'a timeout that outlasts a drive',
      'step',
      { timeout: LONGEST_STEP_ANYWHERE_MS + 1 },
      'bad',
      'exceeds the longest dispatch; the maximum is',
    ],
    [
      'an invalid heartbeat timeout',
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
      'an integer of at least 1',
    ],
    [
      'half an attempt',
      'map',
      { retry: { maxAttempts: 1.5 } },
      'bad.retry.maxAttempts',
      'an integer of at least 1',
    ],
    [
      'a negative delay',
      'step',
      { retry: { initialMs: -1 } },
      'bad.retry.initialMs',
      'a number of milliseconds, 0 or more',
    ],
    [
      'an unknown option of a retry',
      'step',
      { retry: { max: 3 } },
      'bad.retry',
      "in 'retry' unknown option 'max'",
    ],
    [
      'an unknown option of a retry for one error',
      'map',
      { retry: { perError: [{ match: 'A' }, { match: 'B', attempts: 1 }] } },
      'bad.retry.perError[1]',
      "unknown option 'attempts'",
    ],
    ['a shrinking delay', 'step', { retry: { factor: 0.5 } }, 'bad.retry.factor', 'a number of at least 1'],
    [
      'an invalid cap',
      'step',
      { retry: { capMs: Number.NaN } },
      'bad.retry.capMs',
      'a number of milliseconds, 0 or more',
    ],
    [
      'an invalid retry for one error',
      'step',
      { retry: { perError: [{ match: 'A' }, { match: 'B', maxAttempts: -1 }] } },
      'bad.retry.perError[1].maxAttempts',
      'retry.perError[1].maxAttempts must be an integer of at least 1',
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
      'a value to degrade to that is not JSON',
      'step',
      { onFailure: { degradeTo: { at: new Date(0) } } },
      'bad.onFailure.degradeTo.at',
      'bad.onFailure.degradeTo.at',
    ],
    ['no concurrency', 'map', { concurrency: 0 }, 'bad', "'concurrency' must be an integer of at least 1"],
    ['an invalid concurrency', 'child', { over, concurrency: 1.5 }, 'bad', "'concurrency' must be"],
    ['no items', 'map', { over: undefined }, 'bad', "needs the function 'over'"],
    ['items that are no function', 'child', { over: [1] }, 'bad', "needs the function 'over'"],
    ['a negative tolerance', 'map', { completion: { tolerate: -1 } }, 'bad', "'tolerate' must be an integer"],
    [
      'a tolerance above the maximum of items',
      'map',
      { completion: { tolerate: MAX_ITEMS + 1 } },
      'bad',
      `'tolerate' must be an integer from 0 to ${MAX_ITEMS}`,
    ],
    [
      'a percentage above 100',
      'map',
      { completion: { tolerate: '101%' } },
      'bad',
      "a count or a percentage such as '10%'",
    ],
    [
      'a percentage without its sign',
      'map',
      { completion: { tolerate: '10' } },
      'bad',
      "a count or a percentage such as '10%'",
    ],
    [
      'a percentage sign without a number',
      'child',
      { over, completion: { tolerate: '%' } },
      'bad',
      "a count or a percentage such as '10%'",
    ],
    ['half a success', 'map', { completion: { atLeast: 0.5 } }, 'bad', "'atLeast' must be an integer"],
    ['nothing to ask', 'approval', { ask: undefined }, 'bad', "needs the function 'ask'"],
    ['a question that is no function', 'approval', { ask: 'ok?' }, 'bad', "needs the function 'ask'"],
    ['an invalid time to decide', 'approval', { timeout: 'never' }, 'bad.timeout', 'is not a duration'],
    [
      'an escalation without a valid time',
      'approval',
      { escalate: { after: 'later', text: 'hurry' } },
      'bad.escalate.after',
      'is not a duration',
    ],
    [
      'an escalation with too long a text',
      'approval',
      { escalate: { after: '1h', text: 'x'.repeat(1_001) } },
      'bad',
      'has at most 1000 characters',
    ],
    ['an event without a name', 'event', { event: '' }, 'bad', "'event' must be 1 to"],
    ['an event with a lone surrogate', 'event', { event: 'x\ud83d' }, 'bad', 'of well-formed text'],
    ['an event whose name is undefined', 'event', { event: undefined }, 'bad', "'event' must be 1 to"],
    [
      'an event with too long a name',
      'event',
      { event: 'x'.repeat(101) },
      'bad',
      'must be 1 to 100 characters',
    ],
    ['an event without a key', 'event', { key: undefined }, 'bad', "needs the function 'key'"],
    ['an event with an empty timeout', 'event', { timeout: '' }, 'bad.timeout', 'is not a duration'],
    ['a sleep without an end', 'sleep', { for: undefined }, 'bad', "either 'for' or 'until'"],
    ['a sleep with two ends', 'sleep', { until: 1 }, 'bad', "either 'for' or 'until'"],
    ['a sleep with an invalid duration', 'sleep', { for: '1 day' }, 'bad.for', '"1 day" is not a duration'],
    [
      'a child without a workflow',
      'child',
      { workflow: undefined },
      'bad',
      "'workflow' must name the workflow of the child run",
    ],
    ['a child without an input', 'child', { input: undefined }, 'bad', "needs the function 'input'"],
    ['a child with an invalid timeout', 'child', { timeout: 'x' }, 'bad.timeout', 'is not a duration'],
    [
      'a need that hides the input',
      'step',
      { needs: { input: { id: 'a' } } },
      'bad',
      "cannot be named 'input'",
    ],
    ['a need that hides the item', 'map', { needs: { item: { id: 'a' } } }, 'bad', "cannot be named 'item'"],
    [
      'needs in a list',
      'step',
      { needs: [{ id: 'a' }, { id: 'b' }] },
      'bad',
      "'needs' must be an object that names each step: needs: { a, b }",
    ],
    ['a need alone', 'map', { needs: { id: 'a' } }, 'bad', 'names each step: needs: { a }'],
    ['needs by name', 'child', { needs: 'a' }, 'bad', 'names each step: needs: { name: step }'],
    [
      'a condition that is not a function',
      'step',
      { when: true },
      'bad',
      "'when' is a function, such as ({ input })",
    ],
    ['a policy that is not a function', 'map', { policy: 'ask' }, 'bad', "'policy' is a function, such as"],
    [
      'a compensation that is not a function',
      'step',
      { compensate: 'undo' },
      'bad',
      "'compensate' is a function",
    ],
    [
      'an unknown word for ifSkipped',
      'sleep',
      { ifSkipped: 'never' },
      'bad',
      "'ifSkipped' is 'skip' or 'run'",
    ],
    ['a word for a boolean', 'step', { idempotent: 'no' }, 'bad', "'idempotent' is true or false"],
    [
      'a new attempt of an idempotent step',
      'step',
      { newAttempt: true },
      'bad',
      "requires 'idempotent: false'",
    ],
    [
      'a new attempt with a retry of only one',
      'map',
      { idempotent: false, newAttempt: true, retry: { maxAttempts: 1 } },
      'bad',
      "requires a 'retry' of at least 2 attempts",
    ],
    ['a number for a boolean', 'map', { resumable: 0 }, 'bad', "'resumable' is true or false"],
    ['a number as retry', 'step', { retry: 3 }, 'bad', "'retry' is an object, such as { maxAttempts: 3 }"],
    ['the name of a type as schema', 'event', { output: 'string' }, 'bad', "'output' is a Zod schema"],
    ['a number as completion', 'map', { completion: 3 }, 'bad', "'completion' is { tolerate: 2 }"],
    [
      'an unknown word for onExpiry',
      'approval',
      { onExpiry: 'wait' },
      'bad',
      "'onExpiry' is 'fail' or 'approve' or 'halt'",
    ],
    ['an escalation in words', 'approval', { escalate: 'soon' }, 'bad', "'escalate' is an object"],
    ['a child that is a number', 'child', { workflow: 7 }, 'bad', "'workflow' is a workflow or its type"],
    [
      'an unknown word for onParentEnd',
      'child',
      { onParentEnd: 'kill' },
      'bad',
      "'onParentEnd' is 'cancel' or 'abandon' or 'wait'",
    ],
    [
      'a timeout of a child with onParentEnd: wait',
      'child',
      { onParentEnd: 'wait', timeout: '1h' },
      'bad',
      "'timeout' cannot be combined with onParentEnd: 'wait'",
    ],
    [
      'a loop without a limit',
      'loop',
      { max: undefined },
      'bad',
      "'max' must be an integer from 1 to 1000000; for example max: 100",
    ],
    ['no turn at all', 'loop', { max: 0 }, 'bad', 'an integer from 1 to 1000000'],
    ['more turns than a run has room for', 'loop', { max: 1_000_001 }, 'bad', 'an integer from 1 to 1000000'],
    ['a first state that is no function', 'loop', { state: 0 }, 'bad', "needs the function 'state'"],
    ['a loop without a condition', 'loop', { while: undefined }, 'bad', "needs the function 'while'"],
    ['a loop without a body', 'loop', { body: undefined }, 'bad', "needs the function 'body'"],
    ['a pause that is none', 'loop', { pause: 'a while' }, 'bad.pause', '"a while" is not a duration'],
    [
      'a pause of another type',
      'loop',
      { pause: {} },
      'bad',
      "'pause' is a duration, such as '12h', or a function",
    ],
    [
      'a turn that outlasts a drive',
      'loop',
      { timeout: LONGEST_STEP_ANYWHERE_MS + 1 },
      'bad',
      'exceeds the longest dispatch',
    ],
    [
      'a need that the state hides',
      'loop',
      { needs: { state: { id: 'other' } } },
      'bad',
      "a need of a loop cannot be named 'state'",
    ],
    [
      'a need that is undefined',
      'step',
      { needs: { gone: undefined } },
      'bad',
      "the need 'gone' is not a step",
    ],
  ])('%s', (_, kind, options, field, message) => {
    const error = refusal(one(kind, options));
    expect(error).toMatchObject({ code: 'INVALID_INPUT', field });
    expect(error.message).toContain(message);
    expect(error.message).toContain("workflow 'wrong'");
    expect(error.message).toContain('bad');
  });

  test.each<Kind>(['step', 'map', 'approval', 'event', 'sleep', 'child', 'loop'])(
    'an option that it does not have: a %s',
    (kind) => {
      const error = refusal(one(kind, { timeuot: '5s' }));
      expect(error).toMatchObject({ code: 'INVALID_INPUT', field: 'bad' });
      expect(error.message).toContain("workflow 'wrong': step 'bad': unknown option 'timeuot'; use ");
      expect(error.message).toContain(kind === 'sleep' ? 'use ' : "Did you mean 'timeout'?");
    },
  );

  test('the body of a loop as its last argument', () => {
    const error = refusal(defining((step) => ({ bad: step.loop('bad', COMPLETE.loop, body) })));
    expect(error).toMatchObject({ code: 'INVALID_INPUT', field: 'bad' });
    expect(error.message).toContain(
      "step 'bad': takes its body as an option: { …, body: async ({ state }) => next }",
    );
  });

  test.each<Kind>(['step', 'map'])('no body: a %s', (kind) => {
    const without = (step: LooseFactory) =>
      (kind === 'step' ? step : step.map)('bad', COMPLETE[kind], undefined);
    const error = refusal(defining((step) => ({ bad: without(step) })));
    expect(error).toMatchObject({ code: 'INVALID_INPUT', field: 'bad' });
    expect(error.message).toContain("step 'bad': has no body");
  });
});
