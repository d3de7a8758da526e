import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { type LocalCloud, startLocalCloud } from '../../../packages/local/src/cloud.ts';
import { until } from '../support.ts';

/** Module whose workers are checked only once a file exists. */
const MODULE = `
import { existsSync, writeFileSync } from 'node:fs';
import { onRequest } from 'firebase-functions/https';
import { defineString } from 'firebase-functions/params';
defineString('PLAN');
export const api = onRequest(async (request, response) => {
  const { WAITS_FOR } = process.env;
  if (WAITS_FOR) {
    writeFileSync(WAITS_FOR + '.waits', '');
    while (!existsSync(WAITS_FOR)) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  response.status(404).end();
});
export const drive = onRequest((request, response) => response.end());
drive[Symbol.for('cairn:store-location')] = () => ({ database: '(default)', collectionPrefix: 'gwi_' });
`;

let folder: string;
let cloud: LocalCloud;
afterEach(async () => {
  await cloud.stop();
  rmSync(folder, { recursive: true });
});

test('reports parameters without a value of the serving workers, even if the check of earlier workers ends later', async () => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-loads-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(
    join(import.meta.dirname, '../../../node_modules/firebase-functions'),
    join(folder, 'node_modules/firebase-functions'),
  );
  const module = join(folder, 'index.mjs');
  writeFileSync(module, MODULE);
  const unset: string[][] = [];
  cloud = await startLocalCloud({
    data: 'memory',
    firebaseJson: join(folder, 'firebase.json'),
    ownConsole: true,
    keepsSpare: false,
    codebases: [{ name: 'shop', module, isPlain: true }],
    log() {},
    onPlanFindings() {},
    onUnset: (_, parameters) => unset.push([...parameters]),
  });
  expect(unset).toEqual([['PLAN']]);
  const go = join(folder, 'go');
  const earlier = cloud.reload({ name: 'shop', env: { WAITS_FOR: go } });
  await until(() => existsSync(`${go}.waits`), 'the earlier check to wait');
  await cloud.reload({ name: 'shop', env: { PLAN: 'gold' } });
  writeFileSync(go, '');
  await earlier;
  expect(unset).toEqual([['PLAN'], []]);
});
