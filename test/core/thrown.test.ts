import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { messageOf, reasonOf, stacksOf } from '../../packages/cairn/src/core/thrown.ts';

class Refusal {
  toString() {
    return 'refused';
  }
}
const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;
const LONG = 'x'.repeat(70_000);

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
  ['errors in an array', [new Error('boom'), { message: 'bang' }, 'text', 7], 'boom, bang, text, 7'],
  ['an array of many', Array.from({ length: 12 }, (_, at) => at), '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, and 2 more'],
  ['an array in an array', [[1, { a: 2 }]], '[1,{"a":2}]'],
  ['an array without elements', [], '[]'],
  ['half a character', 'a\ud83d', 'a\ufffd'],
])('the message of %s describes the thrown value', (_, thrown, message) => {
  expect(messageOf(thrown)).toBe(message);
});

test.each<[string, unknown, RegExp]>([
  ['a text', { code: 'E_X', body: LONG }, /^\{"code":"E_X","body":"x{65000,65536}"\}…$/],
  ['a text and more', { body: LONG, code: 'E_X', in: { a: 1 } }, /^\{"body":"x{65000,65536}"\}…$/],
  ['an array', { code: 'E_X', at: Array(70_000).fill(1) }, /^\{"code":"E_X","at":\[(1,){65000,65535}1\]\}…$/],
])('of an object with %s beyond the bound the message has the beginning', (_, thrown, message) => {
  expect(messageOf(thrown)).toMatch(message);
});

test('arrays with many holes within each other have a short message', () => {
  const holes = (depth: number): unknown => {
    const each = new Array<unknown>(60_000);
    if (depth > 0) each[0] = { in: holes(depth - 1) };
    return each;
  };
  expect(messageOf({ in: holes(40) }).length).toBeLessThan(400_000);
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

const refused = new Error('connect ECONNREFUSED ::1:5432');
const addresses = new AggregateError([refused, new Error('connect ECONNREFUSED 127.0.0.1:5432')]);
const circular = new Error('around');
circular.cause = new Error('again', { cause: circular });

test.each<[string, unknown, string]>([
  ['without a cause', new Error('no room'), 'no room'],
  ['with a cause', new Error('fetch failed', { cause: refused }), `fetch failed: ${refused.message}`],
  ['that quotes its cause', new Error('failed: no room', { cause: new Error('no room') }), 'failed: no room'],
  [
    'whose cause tried several addresses',
    new TypeError('fetch failed', { cause: addresses }),
    'fetch failed: connect ECONNREFUSED ::1:5432: connect ECONNREFUSED 127.0.0.1:5432',
  ],
  ['that causes itself', circular, 'around: again'],
  ['whose cause is text', new Error('no', { cause: 'too late' }), 'no: too late'],
])('the reason of an error %s has each message once', (_, thrown, reason) => {
  expect(reasonOf(thrown)).toBe(reason);
});

test('the stacks of an error have its causes, and the room is shared if it is short', () => {
  const deep = (text: string, cause?: unknown) =>
    Object.assign(new Error(text, { cause }), { stack: `Error: ${text}\n${'    at frame\n'.repeat(500)}` });
  const thrown = deep('the import failed', deep('no connection', deep('no route')));
  expect(stacksOf(thrown, 50_000)?.match(/^(caused by: )?Error: .*$/gm)).toEqual([
    'Error: the import failed',
    'caused by: Error: no connection',
    'caused by: Error: no route',
  ]);
  const short = stacksOf(thrown, 600) ?? '';
  expect(short.length).toBeLessThanOrEqual(600);
  expect(short).toContain('\ncaused by: Error: no route');
  expect([stacksOf('text', 100), stacksOf(undefined, 100)]).toEqual([undefined, undefined]);
});

test('a secret at a cut is masked whole', () => {
  const thrown = Object.assign(new Error('no'), { stack: `${'x'.repeat(95)}hunter2-hunter2` });
  expect(stacksOf(thrown, 100, (text) => text.replaceAll('hunter2', '[redacted]'))).not.toContain('hun');
});
