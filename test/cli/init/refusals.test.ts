import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type TemporaryProject, temporaryProject, withPackage } from './project.ts';

const opened: TemporaryProject[] = [];
afterEach(() => {
  for (const project of opened.splice(0)) project.dispose();
});
const opening = (project: TemporaryProject) => {
  opened.push(project);
  return project;
};
const withFiles = (files: Readonly<Record<string, string>>) => opening(temporaryProject(withPackage(files)));

/** A project with functions in JavaScript. */
const js = { 'firebase.json': '{"functions": {"source": "functions"}}' };

describe('cairn init is refused, and leaves nothing behind,', () => {
  test.each<[string, Readonly<Record<string, string>>, readonly string[], string]>([
    [
      'where firebase.json has a key twice',
      { 'firebase.json': '{"functions": [], "functions": {"source": "f"}}' },
      [],
      'FIREBASE_JSON_INVALID',
    ],
    ['where firebase.json is damaged', { 'firebase.json': '{"functions": {' }, [], 'FIREBASE_JSON_INVALID'],
    [
      'where firebase.json is of another shape',
      { 'firebase.json': '{"functions": 1}' },
      [],
      'FIREBASE_JSON_INVALID',
    ],
    [
      'where the codebase exports the name',
      { ...js, 'functions/index.js': 'exports.cairn = 1;' },
      [],
      'NAME_TAKEN',
    ],
    [
      'where a module of main exports the name',
      { ...js, 'functions/package.json': '{"main": "a.js"}', 'functions/a.js': 'export const cairn = 1;' },
      [],
      'NAME_TAKEN',
    ],
    ...[
      'module.exports.cairn = {};',
      "exports['cairn'] = {};",
      'exports["cairn"]={};',
      'module.exports = { order, cairn: { api } };',
      'module.exports = { cairn };',
      "export { order as cairn } from './order.js';",
      'export { order, cairn };',
      "export * as cairn from './order.js';",
    ].map((text): [string, Readonly<Record<string, string>>, readonly string[], string] => [
      `where functions are exported by ${text}`,
      { ...js, 'functions/index.js': text },
      [],
      'NAME_TAKEN',
    ]),
    ...[
      ["export * from './cairn';", 'cairn.ts'],
      ["export * from './more/index.js';", 'more/index.ts'],
      ["__exportStar(require('./cairn'), exports);", 'cairn/index.js'],
      ["Object.assign(exports, require('./cairn.js'));", 'cairn.js'],
      ["module.exports = require('./more');", 'more.js'],
    ].map(([text = '', file]): [string, Readonly<Record<string, string>>, readonly string[], string] => [
      `where ${text} exports the name of another module`,
      { ...js, 'functions/index.js': text, [`functions/${file}`]: 'export const cairn = {};' },
      [],
      'NAME_TAKEN',
    ]),
    [
      'where Cairn is in a module that is re-exported',
      { ...js, 'functions/index.js': "export * from './a';", 'functions/a.js': 'cairnFunctions({});' },
      [],
      'ALREADY_ADOPTED',
    ],
    [
      'where the prefix of a codebase is the name',
      { 'firebase.json': '{"functions": [{"source": "a", "prefix": "cairn"}]}' },
      [],
      'NAME_TAKEN',
    ],
    ['where the folder is taken', { ...js, 'cairn/notes.md': '' }, [], 'NAME_TAKEN'],
    [
      'where the codebase is taken',
      { 'firebase.json': '{"functions": [{"source": "a", "codebase": "cairn"}]}' },
      [],
      'NAME_TAKEN',
    ],
    [
      'where an instance of a kit has the name',
      { 'firebase.json': '{"functions": [{"kit": "calls", "source": "a", "instances": {"cairn": "b"}}]}' },
      [],
      'NAME_TAKEN',
    ],
    [
      'where the database is taken',
      { 'firebase.json': '{"firestore": {"database": "cairn"}}' },
      [],
      'NAME_TAKEN',
    ],
    [
      'where Cairn is already',
      { ...js, 'functions/src/index.ts': 'export const { api } = cairnFunctions({});' },
      [],
      'ALREADY_ADOPTED',
    ],
    ['for a name that is no name', js, ['--name', 'My Runs'], 'NAME_INVALID'],
    ['for a word of JavaScript', js, ['--name', 'default'], 'NAME_INVALID'],
    ['for a name that leads out of the project', js, ['--name', '../up', '--undo'], 'NAME_INVALID'],
    ['where the record is no JSON', { ...js, 'cairn/init-record.json': '{' }, [], 'RECORD_DAMAGED'],
    [
      'where the record is of a later version',
      { ...js, 'cairn/init-record.json': '{"version": 2}' },
      [],
      'RECORD_DAMAGED',
    ],
    [
      'where the record leads out of the project',
      {
        ...js,
        'cairn/init-record.json': JSON.stringify({
          version: 1,
          cairn: '0.2.0',
          name: 'cairn',
          created: [{ path: '../x', sha256: '' }],
          edited: [],
          entries: { functions: {}, firestore: {} },
          ignored: [],
        }),
      },
      ['--undo'],
      'RECORD_DAMAGED',
    ],
  ])('%s', async (_, files, words, code) => {
    const project = withFiles(files);
    const before = project.files();
    const output = await project.init([...words, '--yes', '--json']);
    const { error } = JSON.parse(output.err);
    expect(error.code).toBe(code);
    expect(error.help).toMatch(/\w/);
    expect(project.files()).toEqual(before);
  });

  test('if its folder was deleted, which the error names with advice', async () => {
    const project = withFiles(js);
    await project.init(['--yes', '--no-install']);
    project.remove('cairn');
    const before = project.files();
    const { err } = await project.init(['--yes']);
    expect(err).toMatch(
      /^NAME_TAKEN .* its folder cairn\/ has no sources or is not there\nRestore the folder/,
    );
    expect(project.files()).toEqual(before);
  });

  /** Unreadable files: links to themselves. */
  const looping = (path: string) => (project: TemporaryProject) => {
    project.write(path, '');
    rmSync(join(project.root, path));
    symlinkSync('loop', join(project.root, path));
    symlinkSync('loop', join(project.root, path, '../loop'));
  };
  const written = (path: string) => (project: TemporaryProject) => project.write(path, '{');

  test.each([
    ['.gitignore', looping('.gitignore')],
    ['functions/index.js', looping('functions/index.js')],
    ['functions/package.json', looping('functions')],
    ['cairn/init-record.json', looping('cairn/init-record.json')],
    ['node_modules/cairn/package.json', written('node_modules/cairn/package.json')],
    ['package.json', written('package.json')],
  ])('if %s cannot be read, which the error names', async (path, spoil) => {
    const project = withFiles(js);
    spoil(project);
    const before = project.files();
    const { code, err } = await project.init(['--yes', '--json']);
    const { error } = JSON.parse(err);
    expect([code, error.code, error.detail]).toEqual([1, 'READ_FAILED', expect.stringContaining(path)]);
    expect(error.help).toContain('run the command again');
    expect(project.files()).toEqual(before);
  });

  test('without firebase.json, without the package, with another package of the name, or on an old Node', async () => {
    const codeOf = async (files: Readonly<Record<string, string>>, nodeVersion?: string) => {
      const project = opening(temporaryProject(files));
      const run = await project.init(['--yes', '--json'], nodeVersion === undefined ? {} : { nodeVersion });
      return JSON.parse(run.err).error.code;
    };
    expect(await codeOf({ 'README.md': '' })).toBe('NO_PROJECT');
    expect(await codeOf(js)).toBe('NOT_INSTALLED');
    expect(await codeOf({ ...js, 'node_modules/cairn/package.json': '{"version": "0.8.0"}' })).toBe(
      'NOT_INSTALLED',
    );
    expect(await codeOf(withPackage(js), '22.17.1')).toBe('NODE_TOO_OLD');
  });
});
