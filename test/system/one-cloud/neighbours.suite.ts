/** A tenant whose bodies hold all the places that a worker has for it, and a neighbour on the same worker. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { getJson, type Ready } from '../../../packages/local/src/cloud-process.ts';
import { linesIn } from '../../../scripts/demo/notes.ts';
import { type CloudStage, ended, eventually, startRun } from '../support.ts';

/** The concurrency of `drive`. */
const PLACES = 80;
/** Longer than the test takes. */
const HELD_MS = 300_000;

/** A cloud as a client of another tenant sees it. */
async function asTenant(ready: Ready, tenantId: string): Promise<Ready> {
  const secret = 'abcdefghijklmnopqrstuvwxyz0123456789abcd';
  const fields = {
    id: { stringValue: tenantId },
    tenantId: { stringValue: tenantId },
    roles: { arrayValue: { values: [{ stringValue: 'submitter' }] } },
    secretHash: { stringValue: createHash('sha256').update(secret).digest('hex') },
    disabled: { booleanValue: false },
    createdAt: { timestampValue: new Date().toISOString() },
    name: { stringValue: tenantId },
  };
  const clients = `http://${ready.firestore}/v1/projects/${ready.projectId}/databases/(default)/documents/gwi_clients`;
  const answer = await fetch(`${clients}?documentId=${tenantId}`, {
    method: 'POST',
    headers: { authorization: 'Bearer owner', 'content-type': 'application/json' },
    body: JSON.stringify({ fields }),
  });
  expect(answer.status).toBe(200);
  return { ...ready, apiKey: `cairn_${tenantId}_${secret}` };
}

/** The last suite over a cloud: the bodies end with it. */
export function neighbours(stage: CloudStage): void {
  test('a run of a tenant ends while the bodies of another hold every place that they may have, and more of its runs wait', async () => {
    const { ready, folder } = stage.cloud;
    const notes = join(folder, 'held');
    const begun = () => linesIn(notes).filter((line) => line.startsWith('begin')).length;
    const neighbour = await asTenant(ready, 'neighbour');
    const flood = async (runs: number) => {
      const start = () => startRun(ready, 'patient', { ms: HELD_MS, notes });
      const answers = await Promise.all(Array.from({ length: runs }, start));
      expect(answers.filter(({ ok }) => !ok)).toEqual([]);
    };
    const waiting = async () => {
      const { items } = await getJson<{ items: unknown[] }>(ready, '/v1/runs?type=patient&status=pending');
      return items.length > 0;
    };
    await flood(PLACES + 10);
    await eventually('all places to be held, and runs to wait for one', async () => {
      if (begun() < PLACES) return undefined;
      if (await waiting()) return true;
      // The cloud takes a worker on a slow machine for a blocked one, and starts another, with as many places.
      await flood(PLACES);
      return undefined;
    });

    const started = await startRun(neighbour, 'measure', { text: 'four' });
    const { runId } = (await started.json()) as { runId: string };
    expect(await ended(neighbour, runId)).toMatchObject({ status: 'completed' });
  });
}
