/** Concurrent decisions of two people about one run. The cloud has two workers, so that different processes may serve the requests. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { getJson } from '../../../packages/local/src/cloud-process.ts';
import { type CloudStage, ended, eventually, send, startRun, tryGet } from '../support.ts';

interface Answer {
  readonly status: number;
  readonly body: { readonly runId?: string; readonly code?: string; readonly outcome?: string };
}

interface View {
  readonly status: string;
  readonly waits: readonly { readonly effectId?: string }[];
  readonly supersededBy?: string;
}

export function twoPeople(stage: CloudStage): void {
  /** Sends both requests concurrently. */
  function bothPost(path: string, bodies: readonly [object, object]): Promise<Answer[]> {
    return Promise.all(
      bodies.map(async (body) => {
        const answer = await send(stage.cloud.ready, { path, body });
        return { status: answer.status, body: (await answer.json()) as Answer['body'] };
      }),
    );
  }

  test('if two people resolve one effect differently, or resume one failed run, at once, one request wins', async () => {
    const { ready, folder } = stage.cloud;
    const [file, mended] = ['lines', 'two-people-mended'].map((name) => join(folder, name)) as [
      string,
      string,
    ];
    const { runId } = (await (await startRun(ready, 'fragile', { file, mended })).json()) as {
      runId: string;
    };
    const effectId = await eventually('the run to ask', async () => {
      const run = await tryGet<View>(ready, `/v1/runs/${runId}`);
      return run?.status === 'awaiting_approval' ? run.waits[0]?.effectId : undefined;
    });
    const response = await bothPost(`/v1/runs/${runId}/effects/${effectId}/resolve`, [
      { outcome: 'recorded', result: { line: 1 } },
      { outcome: 're-execute' },
    ]);
    expect(response.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(response.find(({ status }) => status === 409)?.body).toMatchObject({ code: 'EFFECT_RESOLVED' });
    const heard = response.find(({ status }) => status === 200)?.body.outcome;
    expect(await ended(ready, runId)).toMatchObject({ status: 'failed' });

    writeFileSync(mended, '');
    const resumed = await bothPost(`/v1/runs/${runId}/resume`, [{}, {}]);
    expect(resumed.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(resumed.find(({ status }) => status === 409)?.body).toMatchObject({ code: 'RUN_TERMINAL_STATE' });
    const source = await getJson<View>(ready, `/v1/runs/${runId}`);
    const successor = resumed.find(({ status }) => status === 201)?.body.runId ?? '';
    expect(source.supersededBy).toBe(successor);
    expect(await ended(ready, successor)).toMatchObject({ status: 'completed' });
    const lines = readFileSync(file, 'utf8').trim().split('\n').length;
    expect(lines).toBe(heard === 're-execute' ? 2 : 1);
  });
}
