/** A tenant whose bodies use all of its slots of a worker, and another tenant on the same worker. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from '@jest/globals';
import { getJson, type Ready } from '../../../packages/local/src/cloud-process.ts';
import { linesIn } from '../../../scripts/demo/notes.ts';
import { type CloudStage, ended, eventually, startRun } from '../support.ts';

/** The concurrency of `drive`. */
const PLACES = 80;
/** Runs that wait for a slot. A list has at most 100 runs in all. */
const MORE = 10;
/** On a slow machine the cloud may consider a worker blocked and start another with as many slots, up to five. */
const MOST_FLOODS = 5;
/** Runs of the other tenant that start and end while the first tenant's runs wait. */
const OVERTAKING = 3;
/** Longer than the test takes. */
const HELD_MS = 300_000;

/** Access to the cloud as a client of another tenant. */
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

interface Held {
  /** Bodies by the process of their worker. */
  readonly begun: Readonly<Record<string, number>>;
  /** Ids of runs that wait. */
  readonly waiting: readonly string[];
}

/** Must be the last suite over a cloud, because the bodies end only with it. */
export function neighbours(stage: CloudStage): void {
  test('a run of a tenant ends while another tenant uses all of its slots and has waiting runs', async () => {
    const { ready, folder } = stage.cloud;
    const notes = join(folder, 'held');
    const neighbour = await asTenant(ready, 'neighbour');
    let started = 0;

    async function flood(runs: number): Promise<void> {
      const start = () => startRun(ready, 'patient', { ms: HELD_MS, notes });
      const answers = await Promise.all(Array.from({ length: runs }, start));
      expect(answers.filter(({ ok }) => !ok)).toEqual([]);
      started += runs;
    }

    async function look(): Promise<Held> {
      const path = '/v1/runs?type=patient&status=pending&limit=100';
      const { items } = await getJson<{ items: { id: string }[] }>(ready, path);
      const begun: Record<string, number> = {};
      for (const line of linesIn(notes)) {
        const [what, pid = ''] = line.split(' ');
        if (what !== 'begin') continue;
        begun[pid] = (begun[pid] ?? 0) + 1;
        expect(begun[pid]).toBeLessThanOrEqual(PLACES);
      }
      return { begun, waiting: items.map(({ id }) => id).sort() };
    }

    /** Resolves when each run has a slot or waits for one. */
    const settled = () =>
      eventually('every run to hold a place or to wait for one', async () => {
        const held = await look();
        const bodies = Object.values(held.begun).reduce((sum, count) => sum + count, 0);
        return bodies + held.waiting.length === started ? held : undefined;
      });

    async function overtake(): Promise<void> {
      const answer = await startRun(neighbour, 'measure', { text: 'four' });
      const { runId } = (await answer.json()) as { runId: string };
      expect(await ended(neighbour, runId)).toMatchObject({ status: 'completed' });
    }

    /** True if runs keep waiting while later runs of the other tenant start and end. */
    async function isLimited(): Promise<boolean> {
      const before = await settled();
      if (before.waiting.length === 0) return false;
      for (let i = 0; i < OVERTAKING; i += 1) await overtake();
      return isDeepStrictEqual(await look(), before);
    }

    await flood(PLACES + MORE);
    for (let floods = 1; !(await isLimited()); floods += 1) {
      if (floods === MOST_FLOODS) throw new Error(`after ${floods} floods, no run keeps waiting for a place`);
      await flood(PLACES);
    }
  });
}
