import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { rolldown } from 'rolldown';
import { FileSourceLocations } from '../../../packages/cairn/src/platform/sources/source-locations.ts';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'cairn-sources-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text = ''): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** Position of a text in a file. */
function positionOf(file: string, text: string) {
  const before = readFileSync(file, 'utf8').split(text)[0] ?? '';
  const lines = before.split('\n');
  return { file, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

const of = (...calls: { file: string; line: number; column: number }[]) =>
  new FileSourceLocations().of(calls);

async function bundled(sourcemap: true | 'inline' | false, minify = false): Promise<string> {
  const input = write(
    'functions/src/index.ts',
    "export { order } from './order.ts';\nexport const other = 1;\n",
  );
  write(
    'functions/src/order.ts',
    'interface Gone {\n  readonly n: number;\n}\n\nexport async function order(flow: any): Promise<Gone> {\n  return flow.step("charge-here");\n}\n',
  );
  const bundle = await rolldown({ input, platform: 'node' });
  const { output } = await bundle.write({
    dir: join(folder, 'functions/lib'),
    format: 'esm',
    sourcemap,
    sourcemapIgnoreList: false,
    minify,
  });
  await bundle.close();
  return join(folder, 'functions/lib', output[0].fileName);
}

describe('a position in a bundle', () => {
  test.each([
    ['a map beside it', true, false],
    ['a map in it', 'inline', false],
    ['a map of minified code', true, true],
  ] as const)('with %s is shown as that of its source, relative to the project', async (_, map, small) => {
    write('firebase.json', '{}');
    const file = await bundled(map, small);
    const at = positionOf(file, '.step(');
    expect(of(at)).toBe('functions/src/order.ts:6');
    expect(of({ ...at, file: pathToFileURL(file).href })).toBe('functions/src/order.ts:6');
  });

  test('is shown relative to the package where only that is deployed', async () => {
    write('functions/package.json', '{}');
    const file = await bundled(true);
    expect(of(positionOf(file, '.step('))).toBe('src/order.ts:6');
  });

  test('without a map, or with a broken one, is shown unchanged', async () => {
    write('firebase.json', '{}');
    const file = await bundled(false);
    const at = positionOf(file, '.step(');
    expect(of(at)).toBe(`functions/lib/index.js:${at.line}`);
    for (const broken of ['{', '{"mappings": 7}', '[]', 'null', '{"mappings":"ÿÿ","sources":["a.ts"]}']) {
      writeFileSync(`${file}.map`, broken);
      expect(of(at)).toBe(`functions/lib/index.js:${at.line}`);
    }
  });
});

describe('of nested calls', () => {
  test('the first one outside installed packages and the runtime is shown', () => {
    write('firebase.json', '{}');
    const own = write('src/flow.ts');
    const library = write('node_modules/@cairn/agents/src/run-agent.ts');
    const runtime = { file: 'node:internal/timers', line: 9, column: 9 };
    const calls = [runtime, { file: library, line: 8, column: 1 }, { file: own, line: 3, column: 5 }];
    expect(of(...calls)).toBe('src/flow.ts:3');
    expect(of(runtime, { file: library, line: 8, column: 1 })).toBeUndefined();
    expect(of()).toBeUndefined();
  });
});

test('no absolute path is ever shown', () => {
  write('firebase.json', '{}');
  const part = fc.constantFrom('a', 'src', 'node_modules', '..', '.', 'ü b', 'x'.repeat(90));
  const file = fc
    .tuple(fc.constantFrom(folder, '/elsewhere', '', 'file://', 'C:'), fc.array(part, { maxLength: 6 }))
    .map(([start, parts]) => [start, ...parts, 'f.ts'].join('/'));
  fc.assert(
    fc.property(file, fc.nat(9), (path, line) => {
      const location = of({ file: path, line, column: 1 }) ?? '';
      expect(location.startsWith('/') || location.includes(folder)).toBe(false);
      expect(location.length).toBeLessThanOrEqual(160);
    }),
  );
});
