import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { externalOwner, keyOfOwner } from '../../packages/cairn/src/core/effects/external.ts';

test('an owner of effects without a run is one path segment that contains its key', () => {
  const keys = fc.stringMatching(/^[!-~]{1,20}$/);
  fc.assert(
    fc.property(keys, (key) => {
      const owner = externalOwner('t/1', key);
      expect(owner).not.toContain('/');
      expect(keyOfOwner(owner)).toBe(key);
    }),
    { examples: [['orders/42'], ['50%2F'], ['a%252Fb']] },
  );
});
