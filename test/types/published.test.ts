import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const ESLINT = join(ROOT, 'node_modules/eslint/bin/eslint.js');
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
    // Declarations name the packages, so that each type of an exported value must be one of their exports.
    declaration: true,
    emitDeclarationOnly: true,
    outDir: 'declared',
    // Otherwise the packages would be modules of the project, which need no name.
    preserveSymlinks: true,
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
  'valid code compiles against the published packages, and each invalid line does not',
  () => {
    expect(compiled()).toBe('');
  },
  BUILD_LIMIT_MS,
);

test(
  'the error about an output names the member and the reason',
  () => {
    const step = (body: string) =>
      `defineWorkflow({ type: 'a', planVersion: 1, input: z.object({}), steps: (step) => ({ a: step('a', ${body}) }) });`;
    const bodies = [
      '() => ({ deep: [{ at: new Date() }] })',
      '() => ({ undo: () => 1 })',
      '() => new Error()',
    ];
    const code = [`import { defineWorkflow } from 'cairn';`, `import { z } from 'zod';`, ...bodies.map(step)];
    writeFileSync(join(project, 'outputs.ts'), code.join('\n'));
    const flags = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--types',
      '',
    ];
    const { stdout } = spawnSync(process.execPath, [TSC, ...flags, 'outputs.ts'], {
      cwd: project,
      encoding: 'utf8',
    });
    for (const reason of [
      'deep: at: a Date becomes a text: return date.toISOString()',
      'undo: a function is lost',
      'an Error becomes {}: throw it, or return its message',
    ])
      expect(stdout).toContain(`OutputIsNotJson<"${reason}">`);
  },
  BUILD_LIMIT_MS,
);

test('no package depends on another of ours, which pnpm and Yarn would look for in the public registry', () => {
  const asked = readdirSync(join(folder, 'staged')).flatMap((name) => {
    const file = join(folder, 'staged', name, 'package.json');
    const { dependencies = {} } = JSON.parse(readFileSync(file, 'utf8')) as {
      dependencies?: Record<string, string>;
    };
    return Object.keys(dependencies).filter((one) => one === 'cairn' || one.startsWith('@cairn/'));
  });
  expect(asked).toEqual([]);
  const cli = JSON.parse(readFileSync(join(folder, 'staged/cli/package.json'), 'utf8'));
  expect(Object.keys(cli.peerDependencies).sort()).toEqual([
    '@cairn/client',
    '@cairn/local',
    '@cairn/mcp',
    'cairn',
  ]);
});

/** One mistake for each rule, and bodies that may do all of it. */
const FLOW = `
import { defineWorkflow } from 'cairn';
export const flow = defineWorkflow({
  run: async (flow, { url }) => {
    flow.step('lost', () => Date.now());
    if (Date.now() % 2) await flow.step('odd', async () => { await flow.sleep('nested', 1); });
    await fetch(url);
    await flow.step('fetch', () => fetch(url));
  },
});
`;

test(
  'ESLint reports the mistakes of a flow with the published rules',
  () => {
    const config = `import cairn from 'cairn/eslint';\nexport default [cairn.configs.recommended];\n`;
    writeFileSync(join(project, 'eslint.config.js'), config);
    writeFileSync(join(project, 'flow.js'), FLOW);
    const { stdout, stderr } = spawnSync(process.execPath, [ESLINT, '--format', 'json', 'flow.js'], {
      cwd: project,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    const [{ messages }] = JSON.parse(stdout) as [{ messages: { ruleId: string; line: number }[] }];
    expect(messages.map(({ ruleId, line }) => [line, ruleId])).toEqual([
      [5, 'cairn/await-operations'],
      [6, 'cairn/no-unrecorded-values'],
      [6, 'cairn/no-operations-in-bodies'],
      [7, 'cairn/no-work-outside-steps'],
    ]);
  },
  BUILD_LIMIT_MS,
);
