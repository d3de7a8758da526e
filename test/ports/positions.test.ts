import { FieldPath, Firestore, Timestamp } from '@google-cloud/firestore';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { time } from '../../packages/cairn/src/api/parameters.ts';
import { CairnError } from '../../packages/cairn/src/core/errors.ts';
import {
  decodeCursor,
  decodeSortedCursor,
  encodeCursor,
  encodeSortedCursor,
} from '../../packages/cairn/src/core/search/cursor.ts';
import { RUN_ORDERS, type RunOrder } from '../../packages/cairn/src/core/search/order.ts';
import { MAX_TIME } from '../../packages/cairn/src/core/time.ts';

/** Anything that may stand in a cursor that somebody made. */
const moment = fc.oneof(
  fc.constantFrom(0, 1, MAX_TIME - 1, MAX_TIME, MAX_TIME + 1, -MAX_TIME, -MAX_TIME - 1),
  fc.integer({ min: -MAX_TIME, max: MAX_TIME }),
  fc.double(),
);

/** Undefined: it is refused, and names what is wrong. */
function read<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch (error) {
    expect(error).toMatchObject({ code: 'INVALID_INPUT', field: expect.any(String) });
    expect(error).toBeInstanceOf(CairnError);
    return undefined;
  }
}

test('a cursor that somebody made is refused, or is a position that the store can look for', () => {
  fc.assert(
    fc.property(fc.constantFrom<RunOrder>(...RUN_ORDERS), moment, moment, (order, asOf, at) => {
      const cursor = encodeSortedCursor(order, { asOf, after: [at, 'run_a'] });
      const position = read(() => decodeSortedCursor(order, cursor));
      if (position) {
        const begun = order === 'longest' ? position.asOf - position.after[0] : position.after[0];
        // The runs of that millisecond, and those from the next one on.
        for (const time of [begun, begun + 1].filter((one) => one >= 0)) Timestamp.fromMillis(time);
      }
      const usual = read(() => decodeCursor('runs', encodeCursor('runs', [at, 'run_a'])));
      if (usual) Timestamp.fromMillis(usual[0]);
    }),
    { numRuns: 2_000 },
  );
});

test('the id in a cursor that somebody made is refused, or is one that a document can have', () => {
  const ids = fc.oneof(
    fc.constantFrom('', '.', '..', '__a__', 'a/b', '\ud800', 'a'.repeat(1_500), 'é'.repeat(751), '~'),
    fc.string({ unit: 'binary' }),
  );
  const runs = new Firestore({ projectId: 'p' }).collection('runs');
  fc.assert(
    fc.property(ids, fc.constantFrom<RunOrder>(...RUN_ORDERS), (id, order) => {
      const sorted = encodeSortedCursor(order, { asOf: 1, after: [0, id] });
      const found = [
        read(() => decodeCursor('runs', encodeCursor('runs', [0, id])))?.[1],
        read(() => decodeSortedCursor(order, sorted))?.after[1],
      ];
      for (const one of found) {
        if (one === undefined) continue;
        // Throws for what is no id.
        runs.orderBy('at').orderBy(FieldPath.documentId()).startAfter(Timestamp.fromMillis(0), one);
        expect(Buffer.byteLength(one)).toBeLessThanOrEqual(1_500);
        expect(one.isWellFormed()).toBe(true);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('every position that a page can end with is read again', () => {
  const now = Date.UTC(2026, 0, 1);
  const created = fc.integer({ min: 0, max: 2 * now });
  fc.assert(
    fc.property(fc.constantFrom<RunOrder>(...RUN_ORDERS), created, (order, createdAt) => {
      const at = order === 'longest' ? now - createdAt : createdAt;
      const position = { asOf: now, after: [at, 'run_a'] as const };
      expect(decodeSortedCursor(order, encodeSortedCursor(order, position))).toEqual(position);
    }),
  );
});

const since = time('Only later ones.');

test.each(['0000-06-01T00:00:00Z', '0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00'])(
  '%s is no time of a filter, since no store holds it',
  (text) => {
    expect(() => since.read(text, 'since')).toThrow('must be a time of the years 1 to 9999');
  },
);

test.each(['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'])('%s is one', (text) => {
  expect(
    Timestamp.fromMillis(since.read(text, 'since') as number)
      .toDate()
      .toISOString(),
  ).toContain(text.slice(0, 19));
});
