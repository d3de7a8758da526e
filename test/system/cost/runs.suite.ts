/** Cost of a run until it has ended, by the meter of the local cloud. */
import { describe, expect, test } from '@jest/globals';
import { control } from '../../../packages/local/src/cloud-process.ts';
import { type CloudStage, ended, eventually, startRun, tryGet } from '../support.ts';

interface RunUsage {
  readonly commits: number;
  readonly reads: number;
  readonly writes: number;
}

interface Meter {
  readonly firestore: { readonly byDocument: Readonly<Record<string, DocumentUsage>> };
}

interface DocumentUsage {
  readonly reads: number;
  readonly writes: number;
  readonly maxWritesIn10s: number;
}

/** Least interval of snapshot writes without an event, by a timer of a second or the heartbeat. */
const FLUSH_MS = 800;

/** @param stage its cloud has no scheduled functions, because these read whole runs at times */
export function costOfRuns(stage: CloudStage): void {
  describe('what a run costs', () => {
    /** Executes a run to its end and returns its metered cost. */
    async function meteredRun(type: string) {
      const { ready } = stage.cloud;
      // Warms up the worker, because a heartbeat while it loads code would be counted.
      await ended(ready, await started('chain-10'));
      const runId = await started(type);
      const { durationMs = 0 } = await ended(ready, runId);
      // Periodic snapshot writes: none within a second, but a busy machine may need some.
      const flushes = Math.floor(durationMs / FLUSH_MS);
      const run = await control<RunUsage>(ready, 'GET', `/meter/runs/${runId}`);
      const { firestore } = await control<Meter>(ready, 'GET', '/meter');
      const rows = Object.entries(firestore.byDocument).filter(([name]) => name.includes(runId));
      const documents = new Map(rows.map(([name, usage]) => [name.slice(name.indexOf(runId)), usage]));
      return { run, flushes, documents };
    }

    async function started(type: string): Promise<string> {
      const response = await startRun(stage.cloud.ready, type, {});
      return ((await response.json()) as { runId: string }).runId;
    }

    test('a plain step is one commit of three writes and no read', async () => {
      const { documents, run, flushes } = await meteredRun('chain-10');
      const ofSteps = [...documents].filter(([name]) => /\/steps\//.test(name));
      expect(ofSteps).toHaveLength(10);
      expect(ofSteps.every(([, usage]) => usage.writes === 1 && usage.reads === 0)).toBe(true);
      const checkpoints = [...documents].filter(([name]) => /\/checkpoints\//.test(name));
      expect(checkpoints.every(([, usage]) => usage.writes === 1 && usage.reads === 0)).toBe(true);
      // Start, claim, ten steps (the last with the end), and the progress of publishing events.
      expect(run.commits).toBeLessThanOrEqual(1 + 1 + 10 + 1 + flushes);
    });

    test('beyond its steps a short run takes at most 12 writes', async () => {
      const { run, flushes } = await meteredRun('chain-10');
      expect(run.writes - 3 * 10).toBeLessThanOrEqual(12 + flushes);
    });

    test('beyond its steps a short run takes at most 6 reads', async () => {
      const { ready } = stage.cloud;
      const runId = await started('chain-10');
      // Watched by the meter, because reads through the API would be billed to the run.
      const run = await eventually('twelve commits of the run', async () => {
        const usage = await control<RunUsage>(ready, 'GET', `/meter/runs/${runId}`);
        return usage.commits >= 12 ? usage : undefined;
      });
      expect(run.reads).toBeLessThanOrEqual(6);
    });

    test('the cost that a run reports equals what the meter counted for it', async () => {
      const { ready } = stage.cloud;
      const runId = await started('chain-10');
      const run = await eventually('the end to be told', async () => {
        const before = await control<RunUsage>(ready, 'GET', `/meter/runs/${runId}`);
        if (before.commits < 12) return undefined;
        const view = await tryGet<{ cost: Record<string, number> }>(ready, `/v1/runs/${runId}`);
        const { commits } = await control<RunUsage>(ready, 'GET', `/meter/runs/${runId}`);
        // Nothing was written during the read.
        const isSettled = commits === before.commits && view?.cost.writes === before.writes;
        return isSettled ? { ...before, cost: view.cost } : undefined;
      });
      expect(run.cost).toMatchObject({ writes: run.writes, deletes: 0, tasks: 1 });
      expect(run.cost.reads).toBeLessThanOrEqual(6);
      expect(run.cost.usd).toBeCloseTo(run.writes * 9e-7 + (run.cost.reads ?? 0) * 3e-7 + 8e-7, 9);
    });

    test('step 1,000 costs what step 10 costs, and no document is written more than ten times in ten seconds', async () => {
      const { documents } = await meteredRun('chain-1000');
      const costOf = (stepId: string) =>
        documents.get([...documents.keys()].find((name) => name.endsWith(`/steps/${stepId}`)) ?? '');
      expect(costOf('step-1000')).toMatchObject({ writes: 1, reads: 0 });
      expect(costOf('step-10')).toMatchObject({ writes: 1, reads: 0 });
      const busiest = Math.max(...[...documents.values()].map((usage) => usage.maxWritesIn10s));
      expect(busiest).toBeLessThanOrEqual(10);
    });
  });
}
