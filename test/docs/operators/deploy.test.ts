import { expect, test } from '@jest/globals';
import { readDocument } from '../snippets.ts';

const page = readDocument('docs/deploy.md');
const params = readDocument('packages/cairn/src/platform/settings/parameters.ts');
const secretsFile = readDocument('packages/cairn/src/platform/settings/secrets.ts');
const named = (pattern: RegExp, text: string) => [...text.matchAll(pattern)].map(([, name = '']) => name);

/** First cells of the table whose header begins with `head`. */
function firstCells(head: string): string[] {
  const [, rows = ''] = new RegExp(`^\\| ${head} \\|.*\\n\\|[-|]+\\n((?:\\|.*\\n)+)`, 'm').exec(page) ?? [];
  return named(/^\| ([^|]+) \|/gm, rows).flatMap((cell) => named(/`([^`]+)`/g, cell));
}

test('docs/deploy.md sets every secret, and no other', () => {
  const secrets = named(/^const \w+ = '(\w+)'/gm, secretsFile).toSorted();
  expect(firstCells('secret').toSorted()).toEqual(secrets);
  expect(named(/functions:secrets:set (\w+)/g, page).toSorted()).toEqual(secrets);
});

test('docs/deploy.md says when to set each parameter', () => {
  const parameters = named(/ = (?:text|whole)\('(\w+)'/g, params);
  expect(firstCells('parameter').toSorted()).toEqual(parameters.toSorted());
});

test('docs/deploy.md names every function that is deployed, and who calls it', () => {
  const [, list = ''] = /export const \{([^}]+)\} =/.exec(readDocument('functions/src/index.ts')) ?? [];
  const functions = named(/(\w+),/g, list);
  const documented = firstCells('function').map((name) => name.replace('-…', ''));
  expect(documented.toSorted()).toEqual(functions.toSorted());
});

test('docs/deploy.md names the existing TTL policies', () => {
  const { fieldOverrides } = JSON.parse(readDocument('firestore.indexes.json')) as {
    fieldOverrides: { collectionGroup: string; fieldPath: string; ttl?: boolean }[];
  };
  const policies = fieldOverrides
    .filter(({ ttl }) => ttl)
    .map((one) => `${one.collectionGroup}.${one.fieldPath}`);
  expect(policies.length).toBeGreaterThan(0);
  for (const policy of policies) expect(page).toContain(`\`${policy}\``);
});
