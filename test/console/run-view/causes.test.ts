import { expect, test } from '@jest/globals';
import { stacksOf } from '../../../packages/cairn/src/core/thrown.ts';
import { causesIn } from '../../../packages/console/src/parts/stack/causes-in.ts';

test.each<[string, Error, readonly string[]]>([
  ['without a cause', new Error('no room'), []],
  [
    'of a refused connection',
    new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 10.0.0.1:5432') }),
    ['connect ECONNREFUSED 10.0.0.1:5432'],
  ],
  [
    'whose message quotes one of two causes',
    new Error('failed: bad row', { cause: new Error('bad row', { cause: new TypeError('no country') }) }),
    ['TypeError: no country'],
  ],
])('the causes of an error %s are shown beside its message', (_, error, causes) => {
  expect(causesIn(stacksOf(error, 10_000) ?? '', error.message)).toEqual(causes);
});
