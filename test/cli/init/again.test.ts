import { afterEach, expect, test } from '@jest/globals';
import { type TemporaryProject, temporaryProject, withPackage } from './project.ts';

const opened: TemporaryProject[] = [];
afterEach(() => {
  for (const project of opened.splice(0)) project.dispose();
});
const withFiles = (files: Readonly<Record<string, string>>) => {
  const project = temporaryProject(withPackage(files));
  opened.push(project);
  return project;
};

test('Cairn can be added again after a revert that left ignored files in the folder', async () => {
  const project = withFiles({ 'firebase.json': '{}' });
  const ignored = {
    'cairn/node_modules/cairn/index.js': '',
    'cairn/lib/index.js': 'export const { tick } = cairnFunctions({});',
    'cairn/.secret.local': 'A=b',
  };
  for (const [path, text] of Object.entries(ignored)) project.write(path, text);
  const { code, err } = await project.init(['--yes']);
  expect([code, err]).toEqual([0, expect.stringContaining('create  cairn/src/index.js')]);
  expect(project.files()['cairn/.secret.local']).toBe('A=b');
});

test('a folder with sources, or only with lib, does not count as left over', async () => {
  const sources = [
    'cairn/lib/index.js',
    'cairn/node_modules/a.js cairn/notes.md',
    'cairn/node_modules/a.js cairn/lib/index.js',
  ];
  for (const path of sources) {
    const project = withFiles({ 'firebase.json': '{}' });
    for (const file of path.split(' ')) project.write(file, '');
    expect((await project.init(['--yes'])).err).toContain('NAME_TAKEN');
  }
});

test('a second init names the file with the region, which its option does not change', async () => {
  const project = withFiles({ 'firebase.json': '{}' });
  await project.init(['--yes']);
  const { code, out, err } = await project.init(['--yes', '--region', 'europe-west1', '--language', 'js']);
  expect([code, out]).toEqual([0, expect.stringContaining('Nothing to change')]);
  expect(err.replaceAll('\n', ' ')).toContain("The region of 'cairn' is in cairn/src/index.js");
  expect(err).toContain('--language changes no codebase');
});
