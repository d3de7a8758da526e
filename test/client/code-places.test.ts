import { describe, expect, test } from '@jest/globals';
import type { CairnClient } from '../../packages/client/src/client.ts';
import { placesOf, readPlaces } from '../../packages/client/src/explain/code-places.ts';

type Run = Parameters<typeof readPlaces>[1];

const run = (facts: object): Run =>
  ({ id: 'run_1', status: 'running', running: [], waits: [], steps: { retrying: 0 }, ...facts }) as never;
const wait = (itemKey: string, location?: string) => ({ execution: { stepId: 'flow', itemKey, location } });

/** Answers for the graph, and for the event of each seq. */
function api(steps: readonly object[], locations: Readonly<Record<number, string>> = {}) {
  const asked: unknown[] = [];
  const client = {
    get: async (path: string) => {
      asked.push(path);
      return { steps };
    },
    follow: async function* (_: string, { after }: { after: number }) {
      asked.push(after + 1);
      yield { kind: 'again', why: 'cut' };
      yield { kind: 'event', event: { data: { location: locations[after + 1] } } };
      throw new Error('nothing after the event is asked for');
    },
  };
  return { client: client as unknown as CairnClient, asked };
}

describe('the code positions of a run', () => {
  test('are those of running bodies and open waits that have one', async () => {
    const facts = {
      running: [{ step: 'flow[ask]', location: 'src/a.ts:1' }, { step: 'plain' }],
      waits: [wait('paid', 'src/a.ts:2'), wait('old')],
    };
    const places = [
      { step: 'flow[ask]', state: 'running', location: 'src/a.ts:1' },
      { step: 'flow[paid]', state: 'waiting', location: 'src/a.ts:2' },
    ];
    expect(placesOf(run(facts))).toEqual(places);
    const { client, asked } = api([]);
    expect(await readPlaces(client, run(facts))).toEqual(places);
    expect(asked).toEqual([]);
  });

  test('are listed for at most ten operations', () => {
    const waits = Array.from({ length: 2_000 }, (_, at) => wait(`w${at}`, `src/a.ts:${at + 1}`));
    expect(placesOf(run({ waits }))).toHaveLength(10);
  });

  test('are read from the journal for operations between attempts, not for steps and items', async () => {
    const { client, asked } = api(
      [
        { key: 'plain', phase: 'retrying', seq: 4 },
        { key: 'set[3]', phase: 'retrying', seq: 5 },
        { key: 'flow[charge]', phase: 'retrying', seq: 6 },
        { key: 'flow[old]', phase: 'retrying', seq: 7 },
      ],
      { 6: 'src/a.ts:9' },
    );
    expect(await readPlaces(client, run({ steps: { retrying: 4 } }))).toEqual([
      { step: 'flow[charge]', state: 'retrying', location: 'src/a.ts:9' },
    ]);
    expect(asked).toEqual(['/v1/runs/{id}/graph', 6, 7]);
  });

  test('are that of the last failed operation, for a flow that failed its run', async () => {
    const { client } = api(
      [
        { key: 'flow', phase: 'done', outcome: 'failed', seq: 9 },
        { key: 'flow[first]', phase: 'done', outcome: 'failed', seq: 4 },
        { key: 'flow[last]', phase: 'done', outcome: 'failed', seq: 8 },
        { key: 'flow[fine]', phase: 'done', outcome: 'succeeded', seq: 7 },
        { key: 'other[x]', phase: 'done', outcome: 'failed', seq: 6 },
      ],
      { 8: 'src/a.ts:30' },
    );
    expect(await readPlaces(client, run({ status: 'failed', error: { stepId: 'flow' } }))).toEqual([
      { step: 'flow[last]', state: 'failed', location: 'src/a.ts:30' },
    ]);
  });
});
