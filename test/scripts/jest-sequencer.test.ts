import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

interface TestFile {
  readonly path: string;
  readonly duration?: number;
}
interface Sorting {
  new (options: object): { time(file: TestFile): number | undefined; sort(files: TestFile[]): TestFile[] };
}

const ROOT = join(import.meta.dirname, '../..');
const Sequencer = createRequire(import.meta.url)(join(ROOT, 'scripts/jest/sequencer.cjs')) as Sorting;

/** Names of the files in the order in which they begin. */
function ordered(seconds: Readonly<Record<string, number>>): string[] {
  const sequencer = new Sequencer({ contexts: [], globalConfig: {} });
  const nameOf = (path: string) => path.slice(join(ROOT, 'test/').length);
  Object.assign(sequencer, {
    _getCache: () =>
      Object.fromEntries(
        Object.entries(seconds).map(([name, time]) => [join(ROOT, 'test', name), [1, time * 1_000]]),
      ),
  });
  const context = { hasteFS: { getSize: () => 1 }, config: {} };
  const files = Object.keys(seconds).map((name) => ({ path: join(ROOT, 'test', name), context }));
  return sequencer.sort(files).map(({ path }) => nameOf(path));
}

test('files that wait for a browser are spread over the run, each kind beginning with its longest', () => {
  const order = ordered({
    'core/short.test.ts': 10,
    'core/long.test.ts': 40,
    'core/middle.test.ts': 30,
    'console/short.test.ts': 10,
    'console/long.test.ts': 30,
    'console/middle.test.ts': 20,
  });
  expect(order).toEqual([
    'console/long.test.ts',
    'core/long.test.ts',
    'console/middle.test.ts',
    'core/middle.test.ts',
    'console/short.test.ts',
    'core/short.test.ts',
  ]);
});

test('no file is lost if there is only one kind', () => {
  expect(ordered({ 'core/a.test.ts': 1, 'core/b.test.ts': 2 })).toEqual(['core/b.test.ts', 'core/a.test.ts']);
  expect(ordered({ 'console/a.test.ts': 1, 'console/b.test.ts': 2 })).toEqual([
    'console/b.test.ts',
    'console/a.test.ts',
  ]);
});
