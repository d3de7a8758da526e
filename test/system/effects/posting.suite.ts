/** Reviews of delivered pull requests at the stand-in of GitHub. Must be the last suite over a cloud, because it kills the worker and moves the clock. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { control, type Ready } from '../../../packages/local/src/cloud-process.ts';
import type { RecordedCall } from '../../../packages/local/src/stand-in/store.ts';
import { type Delivery, deliverUntilTaken, openedPullRequest } from '../../../scripts/demo/delivery.ts';
import { inspectJournal } from '../../../scripts/demo/journal.ts';
import { signalTo } from '../../support/processes.ts';
import { type CloudStage, ended, eventually } from '../support.ts';

const COMMENT = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';
const STATUS = 'POST /repos/{owner}/{repo}/statuses/{sha}';
/** More pull requests than a busy organisation opens in a minute. */
const STORM = 12;
/** Longer than a lease. */
const LEASE_OVER_MS = 95_000;

interface Told {
  readonly calls: readonly RecordedCall[];
  readonly applied: Readonly<Record<string, number>>;
}

const { body: recorded } = openedPullRequest();

/** The recorded pull request with another number and commit. */
function pullRequest(number: number): Delivery & { readonly number: number; readonly sha: string } {
  const payload = JSON.parse(recorded) as { pull_request: { head: object } };
  const sha = number.toString(16).padStart(40, '0');
  const pull_request = { ...payload.pull_request, number, head: { ...payload.pull_request.head, sha } };
  const body = JSON.stringify({ ...payload, number, pull_request });
  return { event: 'pull_request', id: randomUUID(), body, number, sha };
}

const POSTED = { comments: 1, statuses: 1, labels: ['size/XS', 'documentation'] };

/** @param stage its cloud has the environment of a GitHub CI job */
export function posting(stage: CloudStage): void {
  async function github<T>(path: string): Promise<T> {
    return (await (await fetch(`${stage.cloud.ready.github}${path}`)).json()) as T;
  }

  const told = () => github<Told>('/__calls');

  async function delivered(request: Delivery): Promise<string> {
    const { runId } = await deliverUntilTaken(stage.cloud.ready, request);
    if (runId === undefined) throw new Error('the delivery made no run');
    return runId;
  }

  /** State of a pull request at the stand-in. */
  async function shown({ number, sha }: { readonly number: number; readonly sha: string }) {
    const at = '/repos/Codertocat/Hello-World';
    const [comments, statuses, labels] = await Promise.all([
      github<unknown[]>(`${at}/issues/${number}/comments`),
      github<unknown[]>(`${at}/commits/${sha}/statuses`),
      github<{ name: string }[]>(`${at}/issues/${number}/labels`),
    ]);
    return { comments: comments.length, statuses: statuses.length, labels: labels.map(({ name }) => name) };
  }

  test('the local cloud sends effects to its stand-in only, whatever the environment variables name', () => {
    expect(new URL(stage.cloud.ready.github).hostname).toBe('127.0.0.1');
    expect(Object.values(stage.cloud.ready.secrets)).not.toContain('real');
  });

  describe('the review of a delivered pull request', () => {
    test('is posted once, though one call in ten fails before or after it took effect', async () => {
      const share = { probability: 0.02 };
      const faults = [
        { kind: 'lost-answer' },
        { kind: 'fail-after', status: 502 },
        { kind: 'cut-before' },
        { kind: 'refuse', status: 500 },
        { kind: 'rate-limit', status: 429, retryAfterS: 1 },
      ];
      const rules = [
        // Each of these faults affects at least one call.
        ...faults.map((fault) => ({ call: COMMENT, probability: 1, times: 1, fault })),
        ...faults.map((fault) => ({ ...share, fault })),
      ];
      await control(stage.cloud.ready, 'PUT', '/faults/github', { seed: 6, rules });
      const requests = Array.from({ length: STORM }, (_, i) => pullRequest(100 + i));
      const runIds = await Promise.all(requests.map(delivered));
      for (const runId of runIds) {
        expect(await ended(stage.cloud.ready, runId)).toMatchObject({ status: 'completed', resumeCount: 0 });
      }
      const { injected } = await control<{ injected: Record<string, number> }>(
        stage.cloud.ready,
        'GET',
        '/faults/github',
      );
      expect(Object.keys(injected).sort()).toEqual(faults.map(({ kind }) => kind).sort());
      await control(stage.cloud.ready, 'DELETE', '/faults/github');
      for (const request of requests) expect(await shown(request)).toEqual(POSTED);
      const { applied } = await told();
      // One comment and one status per pull request.
      expect(Object.values(applied)).toEqual(Array(2 * STORM).fill(1));
    });

    test('is posted once if the worker dies between a call and its record', async () => {
      const [done, undone] = [pullRequest(201), pullRequest(202)];
      const before = await told();
      const at = (call: string, path: string, kind: string) => ({
        call,
        path,
        probability: 1,
        times: 1,
        fault: { kind },
      });
      const rules = [at(COMMENT, '/201/', 'hang-after'), at(STATUS, undone.sha, 'hang-before')];
      await control(stage.cloud.ready, 'PUT', '/faults/github', { seed: 1, rules });
      const runIds = await Promise.all([done, undone].map(delivered));
      await eventually('both calls to be under way', async () => {
        const { calls } = await told();
        return calls.filter(({ fault }) => fault?.startsWith('hang')).length === 2 ? calls : undefined;
      });
      const workers = async () =>
        (await control<Ready['pids']>(stage.cloud.ready, 'GET', '/pids')).roles.tasks ?? [];
      const worker = await eventually('the worker of the calls', async () => (await workers())[0]);
      signalTo(worker, 'SIGKILL');
      await eventually('the worker to be gone', async () =>
        (await workers()).includes(worker) ? undefined : true,
      );
      // A call was in flight, so no worker takes over the runs before their leases expire.
      await control(stage.cloud.ready, 'POST', '/clock/advance', { ms: LEASE_OVER_MS });
      for (const runId of runIds) {
        expect(await ended(stage.cloud.ready, runId)).toMatchObject({ status: 'completed', resumeCount: 1 });
        expect((await inspectJournal(stage.cloud.ready, runId)).intact).toBe(true);
      }
      expect(await workers()).not.toContain(worker);
      expect([await shown(done), await shown(undone)]).toEqual([POSTED, POSTED]);
      const { applied } = await told();
      const fresh = Object.entries(applied).filter(([marker]) => !(marker in before.applied));
      expect(fresh.map(([, count]) => count)).toEqual([1, 1, 1, 1]);
    });
  });
}
