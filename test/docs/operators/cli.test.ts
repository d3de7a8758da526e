import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from '../../../packages/cli/src/arguments/parse.ts';
import { COMMANDS } from '../../../packages/cli/src/commands/all.ts';
import { EXIT } from '../../../packages/cli/src/exit.ts';
import { saidInDocs } from '../../cli/support/said-in-docs.ts';
import { sceneOf } from '../commands/scenes.ts';
import { readDocument } from '../snippets.ts';

const page = readDocument('docs/cli.md');

describe('docs/cli.md', () => {
  test('lists every exit code', () => {
    const [, table = ''] = /\| exit code \| means \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(page) ?? [];
    const codes = [...table.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
    expect(codes.toSorted((a, b) => a - b)).toEqual(Object.values(EXIT).toSorted((a, b) => a - b));
  });

  test('names every command', () => {
    const [, commands = ''] = /## Commands\n([\s\S]*?)\n## /.exec(page) ?? [];
    const named = [...commands.matchAll(/`([a-z- ]+)`/g)].map(([, words = '']) => words);
    for (const { name } of COMMANDS) {
      const isNamed = named.includes(name) || named.includes(name.split(' ').at(-1) ?? '');
      expect([name, isNamed]).toEqual([name, true]);
    }
  });
});

test('every command line in the documents is valid', () => {
  const documented = saidInDocs();
  expect(documented.length).toBeGreaterThan(10);
  for (const { document, line, words } of documented) {
    const read = (() => {
      try {
        return parse(words, COMMANDS).kind;
      } catch (error) {
        return (error as Error).message;
      }
    })();
    expect([document, line, read]).toEqual([document, line, expect.stringMatching(/^(?:run|help)$/)]);
  }
});

test('the ids of the failed runs are printed one by one, as the documents show', async () => {
  const [line = ''] = /^cairn runs list --status failed --json \| node .*$/m.exec(page) ?? [];
  const scene = await sceneOf('runs bulk resume --run RUN');
  const { out } = await scene.stage.cairn(['runs', 'list', '--status', 'failed', '--json']);
  // Replaces the command line by a function that prints its recorded output.
  const script = `cairn() { cat; }\n${line}`;
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  const { stdout, stderr } = spawnSync('sh', ['-c', script], { input: out, encoding: 'utf8', env });
  const ids = Object.values(scene.filled).map((shortId) => expect.stringContaining(shortId));
  expect([stdout.trim().split('\n'), stderr]).toEqual([expect.arrayContaining(ids), '']);
});
