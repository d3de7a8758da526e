/** Requests that wait for a worker. */
import { expect, test } from '@jest/globals';
import { Waiters } from '../../../packages/local/src/host/workers/waiters.ts';
import type { WorkerLease } from '../../../packages/local/src/host/workers/worker-lease.ts';
import { API } from './pool-fixture.ts';

test('a request that needs a separate worker does not delay requests that can share one', async () => {
  let isFree = false;
  const lease = {} as WorkerLease;
  const waiters = new Waiters(({ byFrames }) => (isFree && byFrames ? lease : undefined));
  const wait = (byFrames: boolean) =>
    waiters.wait(
      { spec: API, role: 'requests', user: 'ada', byFrames },
      { isServed: true, signal: undefined },
    );
  const alone = wait(false);
  const served: WorkerLease[] = [];
  const sharing = wait(true).then((one) => served.push(one));
  isFree = true;
  waiters.serve();
  await new Promise((resolve) => setImmediate(resolve));
  // Before it would accept an unloaded spare.
  expect(served).toEqual([lease]);
  await sharing;
  waiters.refuseAll('the end');
  await expect(alone).rejects.toThrow('the end');
});
