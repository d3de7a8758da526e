import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type CloudProcess, getJson, startCloudProcess } from '../../../packages/local/src/cloud-process.ts';
import { builtFunctions } from '../../../scripts/test-functions/built.ts';
import { ended, eventually, send, startRun, tryGet } from '../support.ts';

const folder = mkdtempSync(join(tmpdir(), 'cairn-two-people-'));
let cloud: CloudProcess;
beforeAll(async () => {
  cloud = await startCloudProcess({
    data: join(folder, 'data'),
    keepsSpare: false,
    functionsModule: builtFunctions(join(import.meta.dirname, '../fixtures/effect-functions.ts')),
    workers: 2,
  });
});
afterAll(async () => {
  cloud.process.kill('SIGTERM');
  await cloud.ended;
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly body: { readonly runId?: string; readonly code?: string; readonly outcome?: string };
}

/** Both at once, each a request of its own. */
function bothPost(path: string, bodies: readonly [object, object]): Promise<Answer[]> {
  return Promise.all(
    bodies.map(async (body) => {
      const answer = await send(cloud.ready, { path, body });
      return { status: answer.status, body: (await answer.json()) as Answer['body'] };
    }),
  );
}

interface View {
  readonly status: string;
  readonly waits: readonly { readonly effectId?: string }[];
  readonly supersededBy?: string;
}

test('if two people resolve one effect differently, or resume one failed run, at once, one request wins', async () => {
  const [file, mended] = ['lines', 'mended'].map((name) => join(folder, name)) as [string, string];
  const { runId } = (await (await startRun(cloud.ready, 'fragile', { file, mended })).json()) as {
    runId: string;
  };
  const effectId = await eventually('the run to ask', async () => {
    const run = await tryGet<View>(cloud.ready, `/v1/runs/${runId}`);
    return run?.status === 'awaiting_approval' ? run.waits[0]?.effectId : undefined;
  });
  const response = await bothPost(`/v1/runs/${runId}/effects/${effectId}/resolve`, [
    { outcome: 'recorded', result: { line: 1 } },
    { outcome: 're-execute' },
  ]);
  expect(response.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(response.find(({ status }) => status === 409)?.body).toMatchObject({ code: 'EFFECT_RESOLVED' });
  const heard = response.find(({ status }) => status === 200)?.body.outcome;
  expect(await ended(cloud.ready, runId)).toMatchObject({ status: 'failed' });

  writeFileSync(mended, '');
  const resumed = await bothPost(`/v1/runs/${runId}/resume`, [{}, {}]);
  expect(resumed.map(({ status }) => status).sort()).toEqual([201, 409]);
  expect(resumed.find(({ status }) => status === 409)?.body).toMatchObject({ code: 'RUN_TERMINAL_STATE' });
  const source = await getJson<View>(cloud.ready, `/v1/runs/${runId}`);
  const successor = resumed.find(({ status }) => status === 201)?.body.runId ?? '';
  expect(source.supersededBy).toBe(successor);
  expect(await ended(cloud.ready, successor)).toMatchObject({ status: 'completed' });
  const lines = readFileSync(file, 'utf8').trim().split('\n').length;
  expect(lines).toBe(heard === 're-execute' ? 2 : 1);
});
