import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BuildTriggers } from '../../../packages/local/src/dev/build-triggers.ts';

/** Most builds that a build starts by what it writes, the first time. */
const MAX_REPEATS = 2;

/** Builds as `cairn dev` runs them: a change during one has it run once more. */
class Codebase {
  readonly #triggers = new BuildTriggers();
  readonly #writes: readonly string[];
  builds = 0;
  readonly written: string[] = [];

  constructor(writes: readonly string[]) {
    this.#writes = writes;
  }

  /** @param during files that are saved meanwhile, one in each build */
  edit(path: string, during: readonly string[] = []): void {
    const saved = [...during];
    let isStarted = this.#change([path]);
    while (isStarted && this.builds < 1_000) {
      this.builds += 1;
      this.#triggers.began();
      const reports = [...this.#writes.map((one) => [one]), ...saved.splice(0, 1).map((one) => [one])];
      isStarted = reports.map((one) => this.#change(one)).includes(true);
      this.#triggers.ended();
    }
  }

  #change(paths: readonly string[]): boolean {
    const { isStarted, written } = this.#triggers.change(paths);
    this.written.push(...written);
    return isStarted;
  }
}

const path = fc.constantFrom('src/index.ts', 'src/generated.ts', 'src/build-info.json', 'package.json');
const others = fc.array(fc.constantFrom('src/a.ts', 'src/b.ts'), { maxLength: 2 });

test('a build that writes sources ends after any edit, and is started by each edit outside of a build', () => {
  const edits = fc.array(fc.tuple(path, others), { minLength: 1 });
  fc.assert(
    fc.property(fc.uniqueArray(path, { minLength: 1 }), edits, (writes, edited) => {
      const codebase = new Codebase(writes);
      for (const [at, [source, during]] of edited.entries()) {
        const before = codebase.builds;
        codebase.edit(source, during);
        const needed = 1 + during.length;
        expect(codebase.builds - before).toBeGreaterThanOrEqual(needed);
        expect(codebase.builds - before).toBeLessThanOrEqual(needed + (at === 0 ? MAX_REPEATS : 0));
      }
      expect(codebase.written.sort()).toEqual([...writes].sort());
    }),
  );
});

test('a file that the build no longer writes is a source again', () => {
  const writes = ['src/generated.ts'];
  const codebase = new Codebase(writes);
  codebase.edit('src/index.ts');
  writes.pop();
  codebase.edit('src/index.ts');
  const before = codebase.builds;
  codebase.edit('src/index.ts', ['src/generated.ts']);
  expect(codebase.builds - before).toBe(2);
});

test('edits during builds start another, unless the same file is saved in three builds in a row', () => {
  const codebase = new Codebase([]);
  codebase.edit('a.ts', ['a.ts', 'b.ts', 'a.ts', 'a.ts', 'b.ts', 'b.ts', 'a.ts', 'a.ts']);
  expect([codebase.builds, codebase.written]).toEqual([9, []]);
  codebase.edit('a.ts', ['a.ts', 'a.ts', 'a.ts', 'a.ts']);
  expect([codebase.builds, codebase.written]).toEqual([12, ['a.ts']]);
});
