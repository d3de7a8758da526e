import { expect, test } from '@jest/globals';
import { calledIn, projectOf } from '../../../packages/cli/src/project.ts';

test.each([
  ['here', ['/shop'], ['/shop/firebase.json'], '/shop'],
  ['above', ['/shop/functions/src'], ['/shop/firebase.json'], '/shop'],
  ['the nearest', ['/a/b/c'], ['/a/firebase.json', '/a/b/firebase.json'], '/a/b'],
  [
    'a cloud that runs, before a nearer project without one',
    ['/a/b'],
    ['/a/.cairn/address.json', '/a/b/firebase.json'],
    '/a',
  ],
  ['the first start, before another', ['/a', '/b'], ['/a/firebase.json', '/b/firebase.json'], '/a'],
  ['a cloud that runs at another start', ['/a', '/b'], ['/a/firebase.json', '/b/.cairn/address.json'], '/b'],
  ['no project: the current folder', ['/a/b', '/c'], [], '/a/b'],
])('the project is found: %s', (_, starts, files, project) => {
  expect(projectOf(starts as [string], (path) => files.includes(path))).toBe(project);
});

test.each([
  ['of a script of npm: where npm was called', '/p/package.json', '/p/sub', '/p', '/p/sub'],
  ['of a script that calls it elsewhere', '/p/package.json', '/p/sub', '/other', '/other'],
  ['without npm', undefined, '/p/sub', '/other', '/other'],
])('the folder of the person, %s', (_, manifest, called, cwd, folder) => {
  expect(calledIn({ npm_package_json: manifest, INIT_CWD: called }, cwd)).toBe(folder);
});
