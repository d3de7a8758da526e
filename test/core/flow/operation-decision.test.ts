import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  omitted,
  operationDecision,
  operationRequest,
  type RecordedOperation,
} from '../../../packages/cairn/src/core/flow/operation-decision.ts';

const charge = operationRequest('step', { cents: 1 });
const dearer = operationRequest('step', { cents: 2 });
const event = operationRequest('event', { event: 'paid', key: 'k' });
const operation = { name: 'charge', request: charge };

describe('an operation that the code asks for', () => {
  test.each<[string, RecordedOperation, string]>([
    ['nothing', { at: 'nothing' }, 'begin'],
    ['an attempt that was cut off', { at: 'running' }, 'begin'],
    ['a pause between two attempts', { at: 'retrying' }, 'rest'],
    ['an open wait for the same', { at: 'waiting', request: charge }, 'wait'],
    ['an open question about its effect', { at: 'waiting' }, 'wait'],
    ['its success', { at: 'done', outcome: 'succeeded', request: charge }, 'answer'],
    ['its degraded success', { at: 'done', outcome: 'degraded', request: charge }, 'answer'],
    ['its success in another run', { at: 'done', outcome: 'reused', request: charge }, 'answer'],
    ['its failure', { at: 'done', outcome: 'failed', request: charge }, 'throw'],
    ['that the flow ended without it', { at: 'done', outcome: 'skipped', request: charge }, 'never'],
    ['a success of which it says no more', { at: 'done', outcome: 'succeeded' }, 'answer'],
    ['an open wait for something else', { at: 'waiting', request: event }, 'diverged'],
    ['the success of something else', { at: 'done', outcome: 'succeeded', request: event }, 'diverged'],
    ['the failure of another request', { at: 'done', outcome: 'failed', request: dearer }, 'diverged'],
    ['something else that was given up', { at: 'done', outcome: 'skipped', request: event }, 'diverged'],
  ])('when the journal has %s', (_, known, kind) => {
    expect(operationDecision(operation, known).kind).toBe(kind);
  });

  test.each([
    [event, `the code asks for 'charge' as a step; in the journal it ended as an event`],
    [dearer, `the code asks for 'charge' as a step with another request than the one in the journal`],
  ])('is named beside what the journal has', (request, message) => {
    expect(operationDecision(operation, { at: 'done', outcome: 'succeeded', request })).toEqual({
      kind: 'diverged',
      message,
    });
  });

  test('is answered only for the same request', () => {
    const kinds = fc.constantFrom('step', 'perform', 'sleep', 'event', 'approval', 'child' as const);
    const request = fc.tuple(kinds, fc.jsonValue()) as fc.Arbitrary<Parameters<typeof operationRequest>>;
    fc.assert(
      fc.property(request, request, (one, other) => {
        const [is, was] = [operationRequest(...one), operationRequest(...other)];
        const decision = operationDecision(
          { name: 'a', request: is },
          { at: 'done', outcome: 'succeeded', request: was },
        );
        expect(decision.kind).toBe(is === was ? 'answer' : 'diverged');
        expect(operationRequest(...one)).toBe(is);
        if (one[0] !== other[0]) expect(is).not.toBe(was);
      }),
    );
  });
});

describe('code that has ended', () => {
  const left = (...names: string[]) => names.map((name) => ({ name, isReused: false }));

  test.each<[string, ReturnType<typeof left>, string[], string | undefined]>([
    ['asked for all that the journal had', left('a', 'b'), ['b', 'a', 'c'], undefined],
    ['left one out', left('a', 'b'), ['a'], `the code ended without asking for 'b', which the journal has`],
    [
      'asked for another one instead',
      left('a', 'b'),
      ['a', 'c'],
      `the code ended without asking for 'b', which the journal has; it asked for 'c', which the journal does not have`,
    ],
    ['need not ask for what another run had completed', [{ name: 'a', isReused: true }], ['c'], undefined],
  ])('%s', (_, known, names, message) => {
    expect(omitted(known, new Set(names))).toBe(message);
  });

  test('has diverged exactly if it left out an operation that is not reused', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd');
    const known = fc.array(fc.record({ name, isReused: fc.boolean() }));
    fc.assert(
      fc.property(known, fc.array(name), (before, names) => {
        const set = new Set(names);
        const isLeftOut = before.some(({ name: one, isReused }) => !isReused && !set.has(one));
        expect(omitted(before, set) !== undefined).toBe(isLeftOut);
      }),
    );
  });
});
