/** Compares the files that a `tsconfig.json` includes with those of the compiler. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compiledFiles, isIncluded } from '../../../packages/cli/src/init/tsconfig.ts';
import { ROOT } from './project.ts';

const FILES = ['cairn/src/index.ts', 'cairn/src/workflows/order.ts', 'src/a.ts', 'top.ts', 'web/app/main.ts'];
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-tsconfig-'));
  for (const path of FILES) write(path, '');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** Files that the compiler reads. */
function namedByCompiler(): string[] {
  let printed: string;
  try {
    printed = execFileSync(process.execPath, [TSC, '--showConfig', '-p', folder], { encoding: 'utf8' });
  } catch {
    return [];
  }
  const { files = [] } = JSON.parse(printed) as { files?: string[] };
  return files.map((path) => path.replace(/^\.\//, '')).sort();
}

const part = fc.constantFrom(
  '*',
  '**',
  'cairn',
  'src',
  'cai*',
  '?airn',
  '*.ts',
  'index.ts',
  '.',
  'app',
  'web',
);
const pattern = fc.oneof(
  fc.constantFrom('.', './', '**/*', '*.ts', './**/*', 'cairn/**', '**/*.ts', 'src/../cairn', '**/cairn/'),
  fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/')),
);
const patterns = fc.array(pattern, { minLength: 1, maxLength: 2 });
const settings = fc.record(
  {
    include: patterns,
    exclude: patterns,
    files: fc.constant(['top.ts']),
    compilerOptions: fc.record({ outDir: fc.constantFrom('lib', 'cairn', './web/') }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);
/** Text of the files by path: a tsconfig.json, and those that it extends. */
const configs = fc.oneof(
  settings.map((own) => ({ 'tsconfig.json': own })),
  fc.tuple(settings, settings).map(([own, base]) => ({
    'tsconfig.json': { extends: './tsconfig.base', ...own },
    'tsconfig.base.json': base,
  })),
  fc.tuple(settings, settings, pattern).map(([own, base, path]) => ({
    'tsconfig.json': { extends: ['./tsconfig.base.json', './config/shared.json'], ...own },
    'tsconfig.base.json': base,
    'config/shared.json': { include: [`../${path}`, `\${configDir}/web`] },
  })),
);

test('agrees with the compiler for any patterns, including those of extended files', () => {
  fc.assert(
    fc.property(configs, (texts: Readonly<Record<string, object>>) => {
      for (const [path, content] of Object.entries(texts)) write(path, JSON.stringify(content));
      const read = (path: string) => (path in texts ? JSON.stringify(texts[path]) : undefined);
      const found = compiledFiles(read);
      const named = namedByCompiler();
      // Ignores `files`, which cannot contain a file that `init` creates.
      const compared = FILES.filter((path) => path !== 'top.ts');
      expect(compared.filter((path) => found && isIncluded(path, found))).toEqual(
        compared.filter((path) => named.includes(path)),
      );
    }),
    { numRuns: 25 },
  );
});
