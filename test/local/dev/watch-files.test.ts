import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { watchFiles } from '../../../packages/local/src/dev/watch-files.ts';
import { until } from '../support.ts';

let root: string;
let folder: string;
let reported: Set<string>;
let stop: () => Promise<void>;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cairn-watch-'));
  folder = join(root, 'dist/apps/api');
  reported = new Set();
  build('one');
  stop = watchFiles({
    folders: new Set([folder]),
    ignored: () => false,
    take: (paths) => {
      for (const path of paths) reported.add(path);
    },
    onError(error) {
      throw error;
    },
  });
});
afterEach(async () => {
  await stop();
  rmSync(root, { recursive: true });
});

function build(text: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'main.js'), text);
}

/** Writes the file again until that is reported: the watcher needs a while to see the folder. */
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
  },
);
