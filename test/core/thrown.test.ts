import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { messageOf } from '../../packages/cairn/src/core/thrown.ts';

class Refusal {
  toString() {
    return 'refused';
  }
}
const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;

test.each<[string, unknown, string]>([
  ['an error', new Error('no room'), 'no room'],
  ['an error without a message', new Error(), ''],
  ['text', 'no room', 'no room'],
  ['nothing', undefined, 'undefined'],
  ['null', null, 'null'],
  ['a symbol', Symbol('no'), 'Symbol(no)'],
  ['an object with a message', { message: 'no room', code: 'FULL' }, 'no room'],
  ['an object with other members', { code: 'FULL', status: 507 }, '{"code":"FULL","status":507}'],
  ['an object whose message is no text', { message: { text: 'no room' } }, '{"message":{"text":"no room"}}'],
  ['an object with a text of its own', new Refusal(), 'refused'],
  ['an object in itself', cyclic, 'the thrown value has no text'],
  ['an object that JSON leaves out', { toJSON: () => undefined }, 'the thrown value has no text'],
  ['half a character', 'a\ud83d', 'a\ufffd'],
])('the message of %s describes the thrown value', (_, thrown, message) => {
  expect(messageOf(thrown)).toBe(message);
});

test('anything thrown has a well-formed message', () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true }), (thrown) => {
      const message = messageOf(thrown);
      expect([typeof message, message.isWellFormed()]).toEqual(['string', true]);
      expect(message).not.toBe('[object Object]');
    }),
  );
});
