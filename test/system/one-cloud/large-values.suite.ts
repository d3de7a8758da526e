/** Values of 20 MiB, through gateway, worker and store. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { control, getJson } from '../../../packages/local/src/cloud-process.ts';
import { type CloudStage, ended, startRun } from '../support.ts';

const MIB = 1024 * 1024;
/** Characters of four bytes, so that chunks end in the middle of them. */
const LARGE = `a${'🪨'.repeat(5 * MIB)}`;

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

interface Ref {
  readonly checkpoint: number;
  readonly sha256: string;
  readonly bytes: number;
  readonly chunks: number;
}

interface Metered {
  readonly firestore: { readonly byDocument: Readonly<Record<string, { readonly writes: number }>> };
}

export function largeValues(stage: CloudStage): void {
  describe('a run with 20 MiB', () => {
    async function read(path: string): Promise<string> {
      const { gateway, apiKey } = stage.cloud.ready;
      const answer = await fetch(gateway + path, { headers: { authorization: `Bearer ${apiKey}` } });
      expect(answer.status).toBe(200);
      return answer.text();
    }

    test('of input completes, and its input is read back byte for byte', async () => {
      const { ready } = stage.cloud;
      const answer = await startRun(ready, 'measure', { text: LARGE }, 'large-1');
      expect(answer.status).toBe(201);
      const { runId } = (await answer.json()) as { runId: string };
      expect(await ended(ready, runId)).toMatchObject({
        status: 'completed',
        result: { length: LARGE.length },
      });

      const run = await getJson<{ inputRef: Ref }>(ready, `/v1/runs/${runId}`);
      const inputText = JSON.stringify({ text: LARGE });
      const bytes = Buffer.byteLength(inputText);
      expect(run.inputRef).toEqual({ checkpoint: 1, sha256: sha256(inputText), bytes, chunks: 23 });
      expect(JSON.stringify(run).length).toBeLessThan(10_000);
      const text = await read(`/v1/runs/${runId}/checkpoints/1/output`);
      expect(sha256(text)).toBe(sha256(inputText));

      const again = await startRun(ready, 'measure', { text: LARGE }, 'large-1');
      expect([again.status, await again.json()]).toEqual([200, expect.objectContaining({ runId })]);
      // Neither the step nor the second start wrote the value again.
      const { firestore } = await control<Metered>(ready, 'GET', '/meter');
      const chunks = Object.entries(firestore.byDocument).filter(([name]) =>
        name.includes(`/${runId}/payloads/`),
      );
      expect(chunks.map(([, { writes }]) => writes)).toEqual(Array(23).fill(1));
    });

    test('of output completes, and its result is read back byte for byte', async () => {
      const { ready } = stage.cloud;
      const started = await startRun(ready, 'grow', { letter: '🪨', times: 5 * MIB });
      const { runId } = (await started.json()) as { runId: string };
      expect(await ended(ready, runId)).toMatchObject({ status: 'completed' });
      const run = await getJson<{ resultRef: Ref }>(ready, `/v1/runs/${runId}`);
      const resultText = JSON.stringify({ length: 10 * MIB, made: { text: '🪨'.repeat(5 * MIB) } });
      expect(run.resultRef).toMatchObject({
        sha256: sha256(resultText),
        bytes: Buffer.byteLength(resultText),
      });
      const text = await read(`/v1/runs/${runId}/checkpoints/${run.resultRef.checkpoint}/output`);
      expect(sha256(text)).toBe(sha256(resultText));
      expect(JSON.stringify(run).length).toBeLessThan(10_000);
    });

    test('is the most: a larger input is refused', async () => {
      const answer = await startRun(stage.cloud.ready, 'measure', { text: 'x'.repeat(32 * MIB) }, 'large-2');
      expect(answer.status).toBe(413);
    });
  });
}
