import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { StreamPlaces } from '../../../packages/cairn/src/api/routes/stream/places.ts';
import type { CairnError } from '../../../packages/cairn/src/core/errors.ts';

const ALL = 40;
const OWN = 10;

/** The error code of a refusal. */
function codeOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as CairnError).code;
  }
}

/** Tenants that take a place, or release one of theirs. */
const turns = fc.array(
  fc.record({ tenant: fc.integer({ min: 0, max: 5 }), leaves: fc.boolean() }, { noNullPrototype: true }),
  { maxLength: 200 },
);

describe('places of an instance', () => {
  test('go to each tenant that has fewer than its own while any are left, and to others while as many are left', () => {
    fc.assert(
      fc.property(turns, (turns) => {
        const places = new StreamPlaces({ ofAll: ALL, ofOneTenant: OWN });
        const held = new Map<number, (() => void)[]>();
        for (const { tenant, leaves } of turns) {
          const own = held.get(tenant) ?? [];
          held.set(tenant, own);
          if (leaves) {
            own.pop()?.();
            continue;
          }
          const left = ALL - places.taken;
          const before = own.length;
          const refusal = codeOf(() => own.push(places.take(`tenant ${tenant}`)));
          if (refusal === undefined) expect(left).toBeGreaterThan(0);
          else if (left > 0) expect(before).toBeGreaterThanOrEqual(OWN);
          if (refusal === 'RATE_LIMITED') expect(before).toBeGreaterThanOrEqual(left);
          expect(places.taken).toBe([...held.values()].reduce((sum, { length }) => sum + length, 0));
          expect(places.taken).toBeLessThanOrEqual(ALL);
        }
      }),
    );
  });

  test('leave half of all to others while one tenant is alone', () => {
    const places = new StreamPlaces({ ofAll: ALL, ofOneTenant: OWN });
    while (codeOf(() => places.take('alone')) === undefined);
    expect(places.taken).toBe(ALL / 2);
    for (let i = 0; i < OWN; i += 1) expect(codeOf(() => places.take('neighbour'))).toBeUndefined();
  });
});
