import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { StreamPlaces } from '../../../packages/cairn/src/api/routes/stream/places.ts';
import type { CairnError } from '../../../packages/cairn/src/core/errors.ts';

const ALL = 40;
const OWN = 10;

/** The code of its refusal. */
function codeOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as CairnError).code;
  }
}

/** Tenants that take a place, and leave one they have. */
const turns = fc.array(
  fc.record({ tenant: fc.integer({ min: 0, max: 5 }), leaves: fc.boolean() }, { noNullPrototype: true }),
  { maxLength: 200 },
);

describe('places of an instance', () => {
  test('are refused to a tenant only if all are taken, or it has its own and no more than others could get', () => {
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
          const mayHave = own.length < Math.max(OWN, left);
          const refusal = codeOf(() => own.push(places.take(`tenant ${tenant}`)));
          expect(refusal).toBe(mayHave ? (left > 0 ? undefined : 'UNAVAILABLE') : 'RATE_LIMITED');
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
