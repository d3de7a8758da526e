import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { MEMBER_NAMES } from '../../packages/cairn/src/core/member-names.ts';

const SOURCES = ['core/run', 'ports'].map((folder) =>
  join(import.meta.dirname, '../../packages/cairn/src', folder),
);

test('the names of members are those of the types of stored and exchanged data, in order', () => {
  const files = SOURCES.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(folder, file)),
  );
  const names = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^ +readonly (\w+)\??:/gm)].map(([, name]) => name),
  );
  expect(MEMBER_NAMES).toEqual([...new Set(names)].sort());
});
