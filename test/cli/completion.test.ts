import { spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { completionScript, SHELLS } from '../../packages/cli/src/arguments/completion.ts';
import { COMMANDS } from '../../packages/cli/src/commands/all.ts';

const script = completionScript('bash', COMMANDS);

/** Completions of bash after these words; the last one is incomplete. */
function offered(...words: readonly string[]): string[] {
  const line = ['cairn', ...words].map((word) => `'${word}'`).join(' ');
  const ask = `${script}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length}; _cairn; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', ask], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  return stdout.split('\n').filter(Boolean);
}

describe('bash', () => {
  test.each([
    [['sch'], ['schedules']],
    [
      ['runs', 'wa'],
      ['watch', 'waive'],
    ],
    [['runs', 'show', 'run_x', '--ev'], ['--events']],
    [['runs', 'start', 'x', '--input', '{}', '--wa'], ['--watch']],
    [['--url', 'https://a.test', 'runs', 'li'], ['list']],
    [
      ['schedules', 'create', '--catch-up', ''],
      ['skip', 'latest', 'all'],
    ],
    [
      ['completion', ''],
      ['--url', '--key-file', '--local', '--json', '--no-color', '--help', 'bash', 'zsh', 'fish'],
    ],
    [['clients', 'create', 'x', 'op'], ['operator']],
  ])('completes %j with every valid continuation', (words, expected) => {
    expect(offered(...words)).toEqual(expected);
  });

  test('completes every first word', () => {
    const first = new Set(COMMANDS.map(({ name }) => name.split(' ')[0]));
    expect(new Set(offered('').filter((word) => !word.startsWith('-')))).toEqual(first);
  });
});

test.each(SHELLS)('%s: the script has every command and option', (shell) => {
  const text = completionScript(shell, COMMANDS);
  for (const { name, options } of COMMANDS) {
    for (const word of name.split(' ')) expect(text).toContain(word);
    for (const option of Object.keys(options)) expect(text).toContain(option);
  }
});
