import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type DevOptions, dev } from '../../../packages/local/src/dev/dev.ts';
import { DATA_FORMAT } from '../../../packages/local-kit/src/sqlite/witness.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-dev-data-'));
  for (const name of ['functions', '.cairn']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'firebase.json'), '{"functions": {"source": "functions"}}');
  writeFileSync(join(folder, 'functions/package.json'), '{"type": "module"}');
  writeFileSync(join(folder, 'functions/index.js'), '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Ends by itself, because the data is opened before the functions are loaded. */
const starting = (changes: Partial<DevOptions> = {}) =>
  dev({
    folder,
    codebases: [],
    data: undefined,
    port: 0,
    workers: 1,
    projectId: undefined,
    acceptDamage: false,
    checksTypes: false,
    json: false,
    paint: (_, text) => text,
    env: {},
    interrupted: new AbortController().signal,
    write: () => {},
    now: () => 0,
    ...changes,
  });

test('data of a later version is refused by name, also if damage is accepted', async () => {
  const file = join(folder, '.cairn/tasks.sqlite');
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA user_version = ${DATA_FORMAT + 1}`);
  db.close();
  const refusal = {
    code: 'DATA_TOO_NEW',
    message: expect.stringContaining(`${file} was written by a later version of Cairn`),
  };
  await expect(starting()).rejects.toMatchObject(refusal);
  await expect(starting({ acceptDamage: true })).rejects.toMatchObject(refusal);
});

test('damaged data is refused by name, with the option that starts without it and keeps a copy', async () => {
  const file = join(folder, '.cairn/tasks.sqlite');
  writeFileSync(file, 'no database');
  await expect(starting()).rejects.toMatchObject({
    code: 'DATA_DAMAGED',
    message: expect.stringContaining('start with --accept-damage'),
  });
  // The functions, of which this codebase has none, are loaded after the data is opened.
  const next = await starting({ acceptDamage: true }).catch((error: unknown) => error);
  expect(next).not.toMatchObject({ code: expect.stringMatching(/^DATA_/) });
  expect(next).not.toMatchObject({ code: 'ERR_SQLITE_ERROR' });
  expect(readFileSync(`${file}.damaged`, 'utf8')).toBe('no database');
  expect(readFileSync(file, 'latin1')).toMatch(/^SQLite format 3/);
});
