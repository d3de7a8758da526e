import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');
const LIMIT_MS = 120_000;
const LOADS =
  "import { onRequest } from 'firebase-functions/https';\nexport const hello = onRequest(() => {});\n";

/** `cairn dev` of a codebase with this module, until `use` has ended. */
async function serving(
  module: string,
  use: (dev: {
    edit(text: string): void;
    /** Resolves with the message of the next event of that name. */
    said(event: string): Promise<string>;
  }) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-never-'));
  mkdirSync(join(folder, 'functions/node_modules'), { recursive: true });
  symlinkSync(
    join(ROOT, 'node_modules/firebase-functions'),
    join(folder, 'functions/node_modules/firebase-functions'),
  );
  writeFileSync(join(folder, 'firebase.json'), '{ "functions": { "source": "functions" } }');
  writeFileSync(join(folder, 'functions/package.json'), '{ "type": "module", "main": "index.js" }');
  const edit = (text: string) => writeFileSync(join(folder, 'functions/index.js'), text);
  edit(module);
  const words = ['dev', '--json', '--port', '0', '--data', 'memory', '--no-types'];
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(ROOT, 'packages/cli/src/main.ts'), ...words],
    { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = once(child, 'exit');
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const said = async (event: string): Promise<string> => {
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error(`it ended before ${event}`);
        const line = JSON.parse(value) as { event?: string; message: string };
        if (line.event === event) return line.message;
      }
    };
    await use({ edit, said });
  } finally {
    child.kill('SIGINT');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  }
}

test(
  'a codebase that has not loaded since the start has no previous version that could serve',
  () =>
    serving("throw new Error('first');", async ({ edit, said }) => {
      const again = 'It is loaded again when one of its files changes.';
      expect(await said('not_loaded')).toMatch(new RegExp(`first[\\s\\S]*\\n${again}$`));
      await said('ready');
      edit("throw new Error('second');");
      expect(await said('not_loaded')).toMatch(new RegExp(`second[\\s\\S]*\\n${again}$`));
      edit(LOADS);
      await said('reloaded');
      edit("throw new Error('third');");
      expect(await said('not_loaded')).toMatch(/third[\s\S]*\nThe previous version continues to serve\.$/);
    }),
  LIMIT_MS,
);

test(
  'an edit while the codebase loads for the first time is loaded after that',
  () =>
    serving(
      `import { writeFileSync } from 'node:fs';
       import { setTimeout } from 'node:timers/promises';
       writeFileSync(new URL(import.meta.url), ${JSON.stringify(LOADS)});
       await setTimeout(1_500);`,
      async ({ said }) => {
        await said('ready');
        expect(await said('reloaded')).toMatch(/index\.js/);
      },
    ),
  LIMIT_MS,
);
