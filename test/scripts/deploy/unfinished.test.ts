import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';

const { unfinished } = createRequire(import.meta.url)('../../../scripts/deploy/unfinished.cjs');

const WANTED = { name: 'drive', rateLimits: { maxDispatchesPerSecond: 500 } };

/** @param queue that of the function; undefined: it does not exist */
async function lackOf(queue: object | undefined): Promise<string | undefined> {
  const modules: Record<string, object> = {
    'firebase-tools/lib/gcp/cloudtasks': {
      queueFromEndpoint: () => WANTED,
      getQueue: async () => queue ?? Promise.reject(Object.assign(new Error('no queue'), { status: 404 })),
    },
  };
  const pair = { want: { taskQueueTrigger: {} }, have: {} };
  const found = await unfinished(
    [pair],
    async () => '1',
    (name: string) => modules[name],
  );
  return found[0]?.what;
}

test.each([
  [{ ...WANTED, state: 'RUNNING' }, undefined],
  [{ ...WANTED, state: 'PAUSED' }, undefined],
  [{ ...WANTED, state: 'DISABLED' }, 'an enabled queue'],
  [{ ...WANTED, rateLimits: {}, state: 'RUNNING' }, 'the settings of its queue'],
  [undefined, 'its queue'],
])('an unchanged function with the queue %j lacks %p', async (queue, lack) => {
  expect(await lackOf(queue)).toBe(lack);
});
