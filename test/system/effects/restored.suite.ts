/**
 * docs/restore.md on a local cloud: its steps by calls of the queue, the control port and the command line. A file records the effects of
 * the receiver. Must be the last suite over a cloud, because it restores the database.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openQueues, type Queues } from '../../../bench/cloud/queues.ts';
import { control } from '../../../packages/local/src/cloud-process.ts';
import { type CloudStage, ended, eventually, startRun, tryGet } from '../support.ts';

const MAIN = join(import.meta.dirname, '../../../packages/cli/src/main.ts');
const run = promisify(execFile);

interface View {
  readonly status: string;
  readonly waits: readonly { readonly effectId?: string }[];
}

/** @param stage its cloud is on SQLite */
export function restores(stage: CloudStage): void {
  describe('a restore', () => {
    const mended = () => join(stage.cloud.folder, 'mended');
    let queues: Queues;
    beforeAll(() => {
      // Otherwise the client of the queue searches for Google's metadata server on the network.
      process.env.METADATA_SERVER_DETECTION = 'none';
      queues = openQueues(stage.cloud.ready);
      writeFileSync(mended(), '');
    });
    afterAll(() => queues[Symbol.asyncDispose]());

    async function cairn(...words: readonly string[]): Promise<string> {
      const { CAIRN_URL: _, CAIRN_API_KEY: __, ...env } = process.env;
      const argv = ['--disable-warning=ExperimentalWarning', MAIN, ...words, '--local', 'data'];
      return (await run(process.execPath, argv, { cwd: stage.cloud.folder, env })).stdout;
    }

    /** Starts a run that adds a line to its own file. The file has a line already, because otherwise the first answer would be lost. */
    async function started(name: string): Promise<{ readonly runId: string; lines(): number }> {
      const file = join(stage.cloud.folder, name);
      writeFileSync(file, 'before\n');
      const answer = await startRun(stage.cloud.ready, 'fragile', { file, mended: mended() });
      expect(answer.status).toBe(201);
      const { runId } = (await answer.json()) as { runId: string };
      return { runId, lines: () => readFileSync(file, 'utf8').trim().split('\n').length };
    }

    /** Output of `cairn doctor`, whose exit code reports findings. */
    async function doctor(): Promise<string> {
      return cairn('doctor').catch((error: { readonly stdout: string }) => error.stdout);
    }

    test('after a restore, an effect made since the backup is asked about and not repeated, and a run started while held continues', async () => {
      // Its start creates the queue of the tenant, so that it can be paused.
      const first = await started('first');
      expect(await ended(stage.cloud.ready, first.runId)).toMatchObject({ status: 'completed' });
      await queues.pause();
      const early = await started('early');
      const backup = join(stage.cloud.folder, 'backup');
      await control(stage.cloud.ready, 'POST', '/export', { file: backup });
      await queues.resume();
      expect(await ended(stage.cloud.ready, early.runId)).toMatchObject({ status: 'completed' });
      expect(early.lines()).toBe(2);

      await queues.pause();
      await control(stage.cloud.ready, 'POST', '/import', { file: backup });
      await eventually('the run of the backup', async () => {
        const before = await tryGet<View>(stage.cloud.ready, `/v1/runs/${early.runId}`);
        return before?.status === 'pending' || undefined;
      });
      await cairn('restore', 'begin');
      expect(JSON.parse(await cairn('restore', 'show', '--json'))).toMatchObject({
        held: true,
        by: 'c.dev',
      });
      const late = await started('late');
      await queues.resume();
      expect(await doctor()).toContain('RESTORE_HELD');
      expect([early.lines(), late.lines()]).toEqual([2, 1]);

      await cairn('restore', 'release');
      expect(await ended(stage.cloud.ready, late.runId)).toMatchObject({ status: 'completed' });
      expect(late.lines()).toBe(2);
      const effectId = await eventually('the early run to ask', async () => {
        const asking = await tryGet<View>(stage.cloud.ready, `/v1/runs/${early.runId}`);
        return asking?.status === 'awaiting_approval' ? asking.waits[0]?.effectId : undefined;
      });
      expect(await cairn('inbox')).toContain(early.runId);
      await cairn('effects', 'resolve', early.runId, effectId ?? '', 'recorded', '--result', '{"line":2}');
      expect(await ended(stage.cloud.ready, early.runId)).toMatchObject({ status: 'completed' });
      expect(early.lines()).toBe(2);
    });
  });
}
