import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';

const { causesOf, isForbidden } = createRequire(import.meta.url)('../../../scripts/deploy/causes.cjs');

interface Failed {
  readonly message: string;
  readonly status?: number;
  readonly original?: Failed;
  readonly children?: readonly Failed[];
}
const DENIED = { message: "Permission 'x' denied", status: 403 };
const DISABLED = { message: 'X has not been used in project 1 before or it is disabled.', status: 403 };

test.each<[string, Failed, string[], boolean]>([
  ['none', { message: 'a' }, [], false],
  ['one that is hidden', { message: 'Failed to list functions', original: DENIED }, [DENIED.message], true],
  [
    'the cause of the cause',
    { message: 'a', original: { message: 'b', original: DENIED } },
    ['b', DENIED.message],
    true,
  ],
  ['one with the same message', { message: 'a', original: { message: 'a' } }, [], false],
  ['children, which are printed', { message: 'a', children: [{ message: 'b', original: DENIED }] }, [], true],
  ['an API that is off', { message: 'a', original: DISABLED }, [DISABLED.message], false],
])('the causes of an error are %s', (_, error, causes, forbidden) => {
  expect([causesOf(error), isForbidden(error)]).toEqual([causes, forbidden]);
});
