import { describe, expect, test } from '@jest/globals';
import { MAX_STEPS } from '../../../packages/cairn/src/core/graph/graph.ts';
import { defining, type LooseFactory, refusal } from './loosely.ts';

const body = () => 1;

describe('a workflow is refused at definition for', () => {
  const fine = (step: LooseFactory) => ({ a: step('a', {}, body) });
  const cases: readonly [string, () => unknown, string, string][] = [
    ['a type with capitals', defining(fine, { type: 'Bad' }), 'type', "'Bad' must be lower-case words"],
    ['a type that is too long', defining(fine, { type: 'x'.repeat(101) }), 'type', 'lower-case words'],
    ['a version of 0', defining(fine, { planVersion: 0 }), 'planVersion', 'positive integer, not 0'],
    ['half a version', defining(fine, { planVersion: 1.5 }), 'planVersion', 'positive integer'],
    [
      'an invalid time limit of the run',
      defining(fine, { timeout: 'x' }),
      'wrong.timeout',
      `workflow 'wrong': 'timeout' "x" is not a duration`,
    ],
    [
      'an unknown option',
      defining(fine, { retries: 3 }),
      'options',
      "unknown option 'retries'; use budget, input, on",
    ],
    ['no schema of its input', defining(fine, { input: undefined }), 'input', "'input' must be a Zod schema"],
    [
      'no function that declares the steps',
      defining(fine, { steps: [] }),
      'steps',
      "needs the function 'steps'",
    ],
    ['no steps', defining(() => ({})), 'steps', 'at least one step'],
    ['no type', defining(fine, { type: undefined }), 'type', 'lower-case words joined by hyphens'],
    [
      'an unknown word for onDoubt',
      defining(fine, { onDoubt: 'retry' }),
      'options',
      "'onDoubt' is 'fail' or 'ask'",
    ],
    [
      'a trigger that is not an object',
      defining(fine, { on: 'push' }),
      'options',
      "'on' is an object, such as",
    ],
    [
      'a step without a name',
      defining((step) => ({ a: step({ needs: {} } as unknown as string, {}, body) })),
      'steps',
      'the first argument of a step is its name, not object',
    ],
    [
      'options that are not an object',
      defining((step) => ({ a: step('a', [{ id: 'b' }], body) })),
      'a',
      "step 'a': the options of a step must be an object",
    ],
    [
      'a function before its options',
      defining((step) => ({ a: step('a', body, { timeout: '5s' }) })),
      'a',
      "step 'a': the function of a step comes last: step('a', { … }, () => …)",
    ],
    [
      'no function of a step',
      defining((step) => ({ a: step('a') })),
      'a',
      "step 'a': lacks its function: step('a', () => …)",
    ],
    [
      'both steps and code',
      defining(fine, { run: async () => 1 }),
      'options',
      "has either 'steps' or 'run', not both",
    ],
    [
      'neither steps nor code',
      defining(fine, { steps: undefined }),
      'steps',
      "needs the function 'steps' or 'run'",
    ],
    [
      'no options',
      defining((step) => ({ a: step.sleep('a') })),
      'a',
      "step 'a': the options of a step must be an object",
    ],
    [
      'no result',
      defining((step) => void fine(step) as never),
      'steps',
      "'steps' must return an object of step handles by output name, not undefined",
    ],
    [
      'steps that are declared later',
      defining((step) => Promise.resolve(fine(step)) as never),
      'steps',
      'by output name, not a promise',
    ],
    [
      'results without names',
      defining((step) => Object.values(fine(step)) as never),
      'steps',
      'by output name, not a list',
    ],
    [
      'a result that is not a step',
      defining((step) => ({ ...fine(step), b: undefined })),
      'steps',
      "the result 'b' is not a step handle",
    ],
    [
      'a result that is a step of another workflow',
      defining((step) => ({ ...fine(step), b: { id: 'elsewhere' } })),
      'steps',
      "the result 'b' is not a step handle",
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
