import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson, type Json, toJsonText } from '../../../packages/cairn/src/core/encoding/json.ts';
import { weightOf } from '../../../packages/cairn/src/core/encoding/weight.ts';
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';
import { withoutUndefined } from '../../../packages/cairn/src/core/optional.ts';
import { emptyChain, seal } from '../../../packages/cairn/src/core/run/chain.ts';
import type { EventDraft } from '../../../packages/cairn/src/core/run/events.ts';
import { eventCodec } from '../../../packages/cairn/src/store/codec/journal.ts';

/** Names that sort before, between and after those of most values. */
const NAMES = ['', 'a', 'absent', 'zz', '\u{10ffff}'];

/** A value, and a copy with undefined members in each of its objects. */
const pairs = () =>
  fc
    .tuple(fc.jsonValue() as fc.Arbitrary<Json>, fc.infiniteStream(fc.subarray(NAMES)))
    .map(([value, names]) => ({
      value,
      padded: withUndefined(value, () => names.next().value ?? []),
    }));

function withUndefined(value: Json, names: () => readonly string[]): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((member: Json) => withUndefined(member, names));
  const members = Object.entries(value as Readonly<Record<string, Json>>).map(
    ([name, member]) => [name, withUndefined(member, names)] as const,
  );
  const absent = names().map((name) => [name, undefined] as const);
  return Object.fromEntries([...absent, ...members]);
}

test('a member that is undefined changes neither text nor weight', () => {
  fc.assert(
    fc.property(pairs(), ({ value, padded }) => {
      expect(canonicalJson(padded)).toBe(canonicalJson(value));
      expect(toJsonText(padded, 'output')).toBe(toJsonText(value, 'output'));
      expect(weightOf(padded)).toBe(weightOf(value));
      expect(withoutUndefined(padded)).toStrictEqual(value);
      expect(withoutUndefined(value)).toBe(value);
    }),
  );
});

test('a member that is named __proto__ is kept as a member', () => {
  const value = { ...(JSON.parse('{"__proto__":{"a":1},"b":2}') as object), absent: undefined };
  expect(Object.entries(withoutUndefined(value))).toEqual([
    ['__proto__', { a: 1 }],
    ['b', 2],
  ]);
});

test('undefined in an array is refused, because it would be read back as null', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.array(fc.jsonValue()), (before, after) => {
      const holed = { list: [...before, undefined, ...after] };
      expect(() => toJsonText(holed, 'output')).toThrow(CairnError);
      expect(() => toJsonText(holed, 'output')).toThrow(`output.list[${before.length}] is undefined`);
    }),
  );
});

test('a draft seals to the same event and the same document with undefined members and without them', () => {
  const place = { chain: emptyChain('r1'), id: 'e1', now: 1 };
  const absent: EventDraft = {
    type: 'run_suspended',
    initiator: 'system',
    data: { status: 'waiting_external', announced: true },
  };
  const padded: EventDraft = {
    ...absent,
    actor: undefined,
    effect: undefined,
    data: { status: 'waiting_external', announced: true, until: undefined, error: undefined },
  };
  const [one, other] = [seal(absent, place), seal(padded, place)];
  expect(other).toStrictEqual(one);
  expect(eventCodec.encode(other)).toStrictEqual(eventCodec.encode(one));
});
