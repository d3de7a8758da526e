import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type LocalCloud, startLocalCloud } from '../../../packages/local/src/cloud.ts';
import { builtFunctions } from '../../../scripts/test-functions/built.ts';

const functionsModule = builtFunctions(join(import.meta.dirname, 'renamed-functions.ts'));
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-renamed-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts a cloud on the same data with this step name and version, and calls `use` with it. */
async function withStep(renamed: string, use: (cloud: LocalCloud) => Promise<void>): Promise<void> {
  const cloud = await startLocalCloud({
    data: join(folder, 'data'),
    functionsModule,
    keepsSpare: false,
    env: { RENAMED: renamed },
    log: () => {},
    output: () => {},
  });
  try {
    await use(cloud);
  } finally {
    await cloud.stop();
  }
}

const start = async ({ gateway, apiKey }: LocalCloud) => {
  const { status } = await fetch(`${gateway}/v1/runs`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
    body: '{"type":"order","input":{}}',
  });
  expect(status).toBe(201);
};

test('a definition that was changed under its version is refused at start once a run of it was started', async () => {
  await withStep('charge', async () => {});
  await withStep('bill', start);
  await expect(withStep('mail', start)).rejects.toThrow(
    "the definition of 'order' version 1 changed since its first run started in this data directory: step 'bill' was renamed to 'mail'. Set planVersion to 2",
  );
  await withStep('mail@2', start);
  await withStep('bill', start);
}, 300_000);
