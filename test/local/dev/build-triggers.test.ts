import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BuildTriggers } from '../../../packages/local/src/dev/build-triggers.ts';

/** Most builds that a build starts by writing sources, until it is recognized. */
const MAX_REPEATS = 3;

/** Runs builds as `cairn dev` does: once more after a change during a build, and after a quiet time if the cause is uncertain. */
class Codebase {
  readonly #triggers = new BuildTriggers();
  readonly #writes: readonly string[];
  builds = 0;
  /** Number of the build during which each file was last saved. */
  readonly saved = new Map<string, number>();
  readonly written: string[] = [];

  constructor(writes: readonly string[]) {
    this.#writes = writes;
  }

  /**
   * @param during files that a person saves meanwhile, one in each build
   * @param afterQuiet a file that a person saves during the build after a quiet time
   */
  edit(path: string, during: readonly string[] = [], afterQuiet?: string): void {
    const saved = [...during];
    let isStarted = this.#change([path]);
    while (isStarted && this.builds < 1_000) {
      isStarted = this.#build(saved.splice(0, 1), false);
      if (!isStarted && this.#triggers.isUncertain)
        isStarted = this.#build(afterQuiet === undefined ? [] : [afterQuiet], true);
    }
    expect(this.#triggers.isUncertain).toBe(false);
  }

  #build(saved: readonly string[], isAfterQuiet: boolean): boolean {
    this.builds += 1;
    this.#triggers.began({ isAfterQuiet });
    for (const one of saved) this.saved.set(one, this.builds);
    const isStarted = [...this.#writes, ...saved].map((one) => this.#change([one])).includes(true);
    this.#triggers.ended();
    return isStarted;
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

test('each edit is built in the end, in however many builds in a row the file was saved', () => {
  const edited = fc.constantFrom('src/a.ts', 'src/b.ts', 'src/c.ts');
  const during = fc.array(edited, { maxLength: 12 });
  fc.assert(
    fc.property(
      fc.uniqueArray(path),
      fc.array(during, { minLength: 1, maxLength: 4 }),
      (writes, sessions) => {
        const codebase = new Codebase(writes);
        for (const saved of sessions) {
          codebase.edit('src/a.ts', saved);
          for (const build of codebase.saved.values()) expect(build).toBeLessThan(codebase.builds);
        }
        expect(codebase.written.every((one) => new Set<string>(writes).has(one))).toBe(true);
      },
    ),
  );
});

test('a file that also changes in the build after a quiet time is written by the build', () => {
  const codebase = new Codebase([]);
  codebase.edit('a.ts', ['a.ts', 'b.ts', 'a.ts', 'a.ts', 'b.ts', 'b.ts', 'a.ts', 'a.ts']);
  expect([codebase.builds, codebase.written]).toEqual([9, []]);
  codebase.edit('a.ts', ['a.ts', 'a.ts', 'a.ts']);
  expect([codebase.builds, codebase.written]).toEqual([13, []]);
  codebase.edit('a.ts', ['a.ts', 'a.ts', 'a.ts'], 'a.ts');
  expect([codebase.builds, codebase.written]).toEqual([17, ['a.ts']]);
});
