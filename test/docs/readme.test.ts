import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Workflow } from '../../functions/src/engine/define/steps.ts';
import { World } from '../support/world.ts';

const root = join(import.meta.dirname, '../..');
/** Inside the project, so that the example finds the packages it names; ignored by git. */
const folder = join(root, '.cairn');
let example: string;

beforeAll(() => {
  const [, code] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
  if (code === undefined) throw new Error('the README shows no workflow');
  mkdirSync(folder, { recursive: true });
  const own = mkdtempSync(join(folder, 'readme-'));
  example = join(own, 'greet.ts');
  const engine = join(root, 'functions/src/engine');
  writeFileSync(example, code.replace("'../engine/", `'${engine}/`));
  const options = { extends: join(root, 'tsconfig.json'), include: [example] };
  writeFileSync(join(own, 'tsconfig.json'), JSON.stringify(options));
});
afterAll(() => rmSync(join(example, '..'), { recursive: true, force: true }));

test('the workflow in the README compiles', () => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '-p', join(example, '../tsconfig.json')];
  expect(() => execFileSync(process.execPath, args, { encoding: 'utf8' })).not.toThrow();
});

test.each([
  { loud: false, text: 'Hello, Ada' },
  { loud: true, text: 'HELLO, ADA' },
])('the workflow in the README says $text', async ({ loud, text }) => {
  const { greet } = (await import(example)) as { greet: Workflow };
  const world = new World({ workflows: [greet] });
  const runId = await world.start('greet', { name: 'Ada', loud });
  await world.run();
  expect((await world.folded(runId)).result).toEqual({ text: `{"send":{"text":"${text}"}}` });
});
