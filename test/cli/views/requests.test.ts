import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { withCommands } from '../../../packages/cli/src/render/requests.ts';

const SOURCES = join(import.meta.dirname, '../../../packages/cairn/src');

/** Hints of the API: members `help` of its errors. */
function hints(): string[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  return files.flatMap((path) =>
    [...readFileSync(join(SOURCES, path), 'utf8').matchAll(/^\s*help:\s*['`](.*)['`],?$/gm)].map(
      ([, text = '']) => text,
    ),
  );
}

test('every request in an API hint is shown as a command in the terminal', () => {
  const naming = hints().filter((help) => /\/v1\//.test(help));
  expect(naming.length).toBeGreaterThan(5);
  expect(naming.map(withCommands).filter((help) => !/cairn [a-z]/.test(help) || /\/v1\//.test(help))).toEqual(
    [],
  );
});

test('hints about a missing or wrong key name the options of the command line', () => {
  const naming = hints().filter((help) => help.includes('Authorization:'));
  expect(naming.length).toBeGreaterThan(0);
  expect(naming.map(withCommands).filter((help) => !/CAIRN_API_KEY.*--key-file FILE/.test(help))).toEqual([]);
});

test.each([
  ['GET /v1/schedules lists the schedules.', 'cairn schedules list shows the schedules.'],
  ['Check the run (GET /v1/runs/{id}/consistency): it works.', 'Check the run (cairn check RUN): it works.'],
  ['Resolve it: POST /v1/runs/run_a/effects/e1/resolve.', 'Resolve it: cairn effects resolve run_a e1.'],
  [
    'Continue it: POST /v1/runs/{id}/continue, or `cairn runs continue`.',
    'Continue it: cairn runs continue RUN.',
  ],
])('%s', (help, command) => {
  expect(withCommands(help)).toBe(command);
});
