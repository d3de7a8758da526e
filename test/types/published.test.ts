import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const BUILD_LIMIT_MS = 300_000;

/** Inside the repository, so that the packages find what they depend on where npm would have installed it: in a folder above. */
let folder: string;
let project: string;

beforeAll(() => {
  mkdirSync(join(ROOT, '.cairn'), { recursive: true });
  folder = mkdtempSync(join(ROOT, '.cairn/published-'));
  const staged = spawnSync(process.execPath, [join(ROOT, 'scripts/pack.mjs'), '--staged', folder], {
    encoding: 'utf8',
  });
  if (staged.status !== 0) throw new Error(`${staged.stdout}${staged.stderr}`);
  project = join(folder, 'project');
  mkdirSync(join(project, 'node_modules/@cairn'), { recursive: true });
  symlinkSync(join(folder, 'staged/cairn'), join(project, 'node_modules/cairn'));
  symlinkSync(join(folder, 'staged/client'), join(project, 'node_modules/@cairn/client'));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module' }));
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  const config = { compilerOptions, files: ['project.ts'] };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
}, BUILD_LIMIT_MS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function compiled(): string {
  copyFileSync(join(import.meta.dirname, 'project.ts'), join(project, 'project.ts'));
  return spawnSync(process.execPath, [TSC, '-p', project], { encoding: 'utf8' }).stdout;
}

test(
  'what is right compiles against the published packages, and each line that is wrong does not',
  () => {
    expect(compiled()).toBe('');
  },
  BUILD_LIMIT_MS,
);
