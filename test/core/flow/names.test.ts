import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  givenName,
  itemName,
  OperationNames,
  operationName,
} from '../../../packages/cairn/src/core/flow/names.ts';
import { stepIdOf, stepKey, stepRefOf } from '../../../packages/cairn/src/core/run/state.ts';
import { decodeSteps, encodeSteps } from '../../../packages/cairn/src/store/codec/steps-text.ts';

const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,20}$/).filter((text) => !/\.\d+$/.test(text));

describe('the name of an operation', () => {
  test.each(['charge', 'ask-model', 'v1.send', 'x'.repeat(100)])('may be %j', (given) => {
    expect(operationName(given)).toBe(given);
  });

  test.each([undefined, '', '1st', 'a b', 'a/b', 'a[0]', 'a.2', 'x'.repeat(101), 'ä'])(
    'may not be %j',
    (given) => {
      expect(() => operationName(given)).toThrow(
        expect.objectContaining({ code: 'INVALID_INPUT', field: 'name' }),
      );
    },
  );

  test('gets a number when it is repeated, and every operation gets a unique one', () => {
    fc.assert(
      fc.property(fc.array(name), (names) => {
        const numbered = new OperationNames();
        const given = names.map((one) => numbered.next(one));
        expect(new Set(given).size).toBe(names.length);
        expect(given.map(givenName)).toEqual(names);
        expect(given.map((one) => givenName(itemName(one, 3)))).toEqual(names);
      }),
    );
  });

  test('can be read from the key of its step', () => {
    fc.assert(
      fc.property(name, fc.nat(9_999), (one, index) => {
        for (const operation of [one, itemName(one, index), itemName(`${one}.2`, index)]) {
          const key = stepKey({ stepId: 'main', itemKey: operation });
          expect(stepIdOf(key)).toBe('main');
          expect(stepRefOf(key, 1)).toEqual({ stepId: 'main', itemKey: operation, revision: 1 });
          const steps = decodeSteps(`${key}:7`);
          expect(encodeSteps(steps)).toBe(`${key}:7`);
          expect([...steps.keys()]).toEqual([key]);
        }
      }),
    );
  });
});
