/** Pauses of workflows and the kill switch. Moves the clock by minutes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { control, getJson } from '../../../packages/local/src/cloud-process.ts';
import { linesIn } from '../../../scripts/demo/notes.ts';
import { type CloudStage, ended, eventually, type RunView, send, startRun, tryGet } from '../support.ts';

/** Longer than a process caches the switches. */
const KNOWN_MS = 5_000;
/** Longer than a lease, which is 90 s on the clouds of tests. */
const LEASE_ENDED_MS = 120_000;

/** Heartbeats after which an attempt knows a switch. */
const BEATS = 3;

interface Driven extends RunView {
  readonly lease?: { readonly expiresAt: string };
}

interface Workflows {
  readonly killSwitch: boolean;
  readonly items: readonly {
    readonly type: string;
    readonly paused: { readonly reason?: string } | null;
    readonly versions: readonly { readonly planVersion: number; readonly liveRuns: number }[];
  }[];
}

export function switches(stage: CloudStage): void {
  describe('switches', () => {
    async function change(
      method: 'POST' | 'PUT',
      path: string,
      body: unknown,
    ): Promise<Record<string, unknown>> {
      const answer = await send(stage.cloud.ready, { method, path, body });
      expect(answer.status).toBe(200);
      return (await answer.json()) as Record<string, unknown>;
    }

    async function start(type: string, input: unknown = {}): Promise<string> {
      const answer = await startRun(stage.cloud.ready, type, input);
      expect(answer.status).toBe(201);
      return ((await answer.json()) as { runId: string }).runId;
    }

    function pass(ms: number): Promise<unknown> {
      return control(stage.cloud.ready, 'POST', '/clock/advance', { ms });
    }

    /** Waits until every task that was ever created has been answered. */
    async function quiet(): Promise<void> {
      await eventually('the queue to be empty', async () => {
        const { tasks } = await control<{ tasks: { created: number; finished: number } }>(
          stage.cloud.ready,
          'GET',
          '/meter/tasks',
        );
        return tasks.created === tasks.finished ? tasks : undefined;
      });
    }

    async function statusOf(runId: string): Promise<string> {
      return (await getJson<RunView>(stage.cloud.ready, `/v1/runs/${runId}`)).status;
    }

    /** Waits until an attempt has read the switches. It does so with its heartbeats, and a read may be answered after the next heartbeat. */
    async function hasLooked(runId: string): Promise<void> {
      const beats = new Set<string>();
      await eventually('the drive to look at the switches', async () => {
        const run = await tryGet<Driven>(stage.cloud.ready, `/v1/runs/${runId}`);
        if (run?.lease) beats.add(run.lease.expiresAt);
        return beats.size > BEATS || (run && !run.lease) || undefined;
      });
    }

    test('runs of a paused workflow wait, others continue, and the end of the pause resumes them at once', async () => {
      // Dispatches of earlier tests that found a live lease are repeated after its end.
      await pass(LEASE_ENDED_MS);
      const before = await start('chain-10');
      await ended(stage.cloud.ready, before);
      await change('POST', '/v1/workflows/chain-10/pause', { reason: 'a look at it' });
      await pass(KNOWN_MS);
      const held = await start('chain-10');
      const other = await start('measure', { text: 'abc' });
      expect((await ended(stage.cloud.ready, other)).status).toBe('completed');
      await quiet();
      expect(await statusOf(held)).toBe('pending');
      // The scan finds the run and defers it again.
      await pass(6 * 60_000);
      await quiet();
      expect(await statusOf(held)).toBe('pending');

      const { items } = await getJson<Workflows>(stage.cloud.ready, '/v1/workflows');
      expect(items.find(({ type }) => type === 'chain-10')).toMatchObject({
        paused: { reason: 'a look at it' },
        versions: [{ planVersion: 1, liveRuns: 1 }],
      });
      expect(items.find(({ type }) => type === 'measure')).toMatchObject({
        paused: null,
        versions: [{ planVersion: 1, liveRuns: 0 }],
      });

      expect(await change('POST', '/v1/workflows/chain-10/unpause', {})).toMatchObject({ woken: 1 });
      expect((await ended(stage.cloud.ready, held)).status).toBe('completed');
    });

    test('a running run is released when its workflow is paused, and completes after the pause', async () => {
      const notes = join(stage.cloud.folder, 'under-way');
      const until = join(stage.cloud.folder, 'paused');
      const runId = await start('slow', { ms: 0, until, notes });
      await eventually('the step to begin', () => linesIn(notes)[0]);
      await change('POST', '/v1/workflows/slow/pause', {});
      // The lease of 90 s has not expired by then.
      await pass(KNOWN_MS);
      await hasLooked(runId);
      writeFileSync(until, '');
      const released = await eventually('the drive to let go', async () => {
        const run = await tryGet<Driven>(stage.cloud.ready, `/v1/runs/${runId}`);
        return run && run.lease === undefined ? run : undefined;
      });
      expect(released.status).toBe('running');
      await quiet();
      expect(await statusOf(runId)).toBe('running');
      await change('POST', '/v1/workflows/slow/unpause', {});
      const run = await ended(stage.cloud.ready, runId);
      expect(run).toMatchObject({ status: 'completed', resumeCount: 0 });
      expect(linesIn(notes).at(-1)).toMatch(/^end /);
    });

    test('the kill switch stops all runs, and they complete after it is off', async () => {
      expect(await change('PUT', '/v1/runtime', { killSwitch: true })).toEqual({
        killSwitch: true,
        woken: 0,
      });
      await pass(KNOWN_MS);
      const runIds = [
        await start('chain-10'),
        await start('measure', { text: 'abc' }),
        await start('chain-10'),
      ];
      await quiet();
      await pass(10 * 60_000);
      await quiet();
      expect(await Promise.all(runIds.map(statusOf))).toEqual(['pending', 'pending', 'pending']);
      expect(await change('PUT', '/v1/runtime', { killSwitch: false })).toEqual({
        killSwitch: false,
        woken: 3,
      });
      const ends = await Promise.all(runIds.map((runId) => ended(stage.cloud.ready, runId)));
      expect(ends.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
    });
  });
}
