import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Bench, startBench } from '../support/client.ts';
import { RawCalls } from '../support/raw-calls.ts';
import { commit, doc, set } from '../support/requests.ts';

const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const FAILED_PRECONDITION = 9;

let bench: Bench;
let raw: RawCalls;

beforeAll(async () => {
  bench = await startBench();
  raw = new RawCalls(bench.server.host);
});
afterAll(async () => {
  raw.close();
  await bench.stop();
});

const verify = (path: string, currentDocument?: object) => ({
  verify: doc(path),
  ...(currentDocument && { currentDocument }),
});

async function written(path: string, v: number) {
  const { writeTime } = await bench.db.doc(path).set({ v });
  return { updateTime: { seconds: writeTime.seconds, nanos: writeTime.nanoseconds } };
}

/** As the clients of browsers commit a transaction: what it wrote, and that what it only read is as it was. */
describe('a commit that verifies what it has read', () => {
  test('is applied while that is as it was, costs a read of it and leaves it alone', async () => {
    const seen = await written('v/read', 1);
    bench.server.meter.reset();
    const answer = await raw.call(
      'Commit',
      commit(set('v/out'), verify('v/read', seen), verify('v/none', { exists: false })),
    );
    expect(answer).toMatchObject({ code: 0 });
    const { writeResults } = answer.messages[0] as { writeResults: { updateTime?: object }[] };
    expect(writeResults.map(({ updateTime }) => updateTime !== undefined)).toEqual([true, true, false]);
    expect(writeResults[1]?.updateTime).toEqual(seen.updateTime);
    expect(bench.server.meter.snapshot().total).toMatchObject({ reads: 2, writes: 1, deletes: 0 });
    expect((await bench.db.doc('v/read').get()).data()).toEqual({ v: 1 });
  });

  test.each([
    ['was changed', 'v/changed', (seen: object) => seen, FAILED_PRECONDITION],
    ['is there and was not', 'v/there', () => ({ exists: false }), ALREADY_EXISTS],
    ['is not there and was', 'v/gone', () => ({ exists: true }), NOT_FOUND],
  ])('writes nothing when that %s', async (_what, path, required, code) => {
    const seen = await written(path, 1);
    if (path === 'v/gone') await bench.db.doc(path).delete();
    else await written(path, 2);
    const answer = await raw.call('Commit', commit(set(`${path}-out`), verify(path, required(seen))));
    expect(answer).toMatchObject({ code });
    expect((await bench.db.doc(`${path}-out`).get()).exists).toBe(false);
  });

  test('is refused when it says not what to verify', async () => {
    expect(await raw.call('Commit', commit(verify('v/read')))).toMatchObject({ code: INVALID_ARGUMENT });
  });

  test('waits for nobody who reads the same document', async () => {
    const seen = await written('v/shared', 1);
    await bench.db.runTransaction(async (transaction) => {
      await transaction.get(bench.db.doc('v/shared'));
      expect(await raw.call('Commit', commit(verify('v/shared', seen)))).toMatchObject({ code: 0 });
    });
  });
});
