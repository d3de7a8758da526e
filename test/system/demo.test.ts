import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { builtFunctions } from '../../scripts/test-functions/built.ts';

/** The demo takes half a minute, mostly for leases to expire; a busy machine takes longer. */
const PATIENCE_MS = 480_000;

test(
  'npm run demo succeeds and says so in its last line',
  async () => {
    const root = join(import.meta.dirname, '../..');
    const main = join(root, 'scripts/demo/main.ts');
    const functions = builtFunctions(join(root, 'scripts/demo/functions.ts'));
    const demo = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
      env: { ...process.env, CAIRN_DEMO_FUNCTIONS: functions },
    });
    let output = '';
    let complaints = '';
    demo.stdout.on('data', (chunk) => {
      output += chunk;
    });
    demo.stderr.on('data', (chunk) => {
      complaints += chunk;
    });
    const [code] = await once(demo, 'close');
    if (code !== 0) throw new Error(`the demo ended with ${code}:\n${complaints}\n${output}`);
    expect(JSON.parse(output.trim().split('\n').at(-1) ?? '')).toMatchObject({
      ok: true,
      runs: 1,
      duplicates: 20,
      status: 'completed',
      comments: 1,
      statuses: 1,
      journalIntact: true,
      steps: 10,
      writesPerStep: 3,
      readsPerStep: 0,
    });
  },
  PATIENCE_MS,
);
