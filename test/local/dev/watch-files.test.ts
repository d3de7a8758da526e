import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { watchFiles } from '../../../packages/local/src/dev/watch-files.ts';
import { until } from '../support.ts';

let root: string;
let folder: string;
let reported: Set<string>;
let errors: unknown[];
/** Paths that a watcher has seen. */
let asked: Set<string>;
let stop: () => Promise<void>;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cairn-watch-'));
  folder = join(root, 'dist/apps/api');
  reported = new Set();
  errors = [];
  asked = new Set();
  build('one');
  stop = watching([folder], (paths) => {
    for (const path of paths) reported.add(path);
  });
});
afterEach(async () => {
  await stop();
  rmSync(root, { recursive: true });
});

const watching = (folders: readonly string[], take: (paths: ReadonlySet<string>) => void) =>
  watchFiles({
    folders: new Set(folders),
    ignored(path) {
      asked.add(path);
      return false;
    },
    take,
    onError: (error) => errors.push(error),
  });

function build(text: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'main.js'), text);
}

/** Writes the file repeatedly until a change is reported, because the watcher needs time to start. */
async function editsAreReported(): Promise<void> {
  reported.clear();
  let text = 0;
  await until(() => {
    text += 1;
    writeFileSync(join(folder, 'main.js'), `${text}`);
    return reported.has(join(folder, 'main.js'));
  }, 'the edit to be reported');
}

test.each([
  ['at once', async () => {}],
  ['later', () => until(() => reported.size > 0, 'the removal to be reported')],
])(
  'a folder that a build removes and writes again %s, also several times, is still watched',
  async (_, pause) => {
    await editsAreReported();
    for (const text of ['two', 'three']) {
      reported.clear();
      rmSync(join(root, 'dist'), { recursive: true });
      await pause();
      reported.clear();
      build(text);
      await until(() => reported.has(join(folder, 'main.js')), 'what the build wrote to be reported');
      await editsAreReported();
      expect(reported).toContain(join(folder, 'main.js'));
    }
    expect(errors).toEqual([]);
  },
);

describe('a folder', () => {
  let other: string;
  let seen: string[];
  let end: () => Promise<void>;
  beforeEach(() => {
    other = join(root, 'other');
    seen = [];
  });
  afterEach(() => end());

  /** @returns what the timer calls */
  function watchOther(): () => void {
    const timers = jest.spyOn(globalThis, 'setInterval');
    end = watching([other], (paths) => {
      seen.push(...paths);
    });
    const [look] = timers.mock.lastCall ?? [];
    timers.mockRestore();
    return look as () => void;
  }

  test('that cannot be read is reported once, and is watched again once it can', async () => {
    mkdirSync(other);
    const look = watchOther();
    rmSync(other, { recursive: true });
    symlinkSync(other, other);
    look();
    look();
    expect(errors).toEqual([expect.objectContaining({ code: 'ELOOP' })]);
    rmSync(other);
    mkdirSync(other);
    writeFileSync(join(other, 'main.js'), '');
    await until(() => seen.includes(join(other, 'main.js')), 'what the build wrote to be reported');
  });

  test('that is missing at first is reported once when it is there', async () => {
    asked.clear();
    const look = watchOther();
    // The watcher of the missing folder watches its parent.
    await until(() => asked.has(root), 'the watcher to begin');
    mkdirSync(join(root, 'built'));
    writeFileSync(join(root, 'built/main.js'), '');
    renameSync(join(root, 'built'), other);
    await until(() => seen.includes(join(other, 'main.js')), 'it to be reported');
    look();
    writeFileSync(join(other, 'next.js'), '');
    await until(() => seen.includes(join(other, 'next.js')), 'the next file to be reported');
    expect(seen.filter((path) => path === join(other, 'main.js'))).toHaveLength(1);
  });
});
