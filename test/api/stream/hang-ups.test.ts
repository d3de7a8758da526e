/** Readers that leave streams and waits: only readers that are still connected hold places of their tenant. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { settle } from '../../support/virtual-clock.ts';
import { Installation } from '../installation.ts';

/** Places of a tenant that is alone. */
const PLACES = 20;
const PATHS = ['?wait=50s', '/stream', '/logs/stream'] as const;

type Act = { readonly opens: (typeof PATHS)[number] } | { readonly leaves: number };

const acts = fc.array(
  fc.oneof(
    fc.record({ opens: fc.constantFrom(...PATHS) }),
    fc.record({ leaves: fc.nat({ max: PLACES }) }),
  ) satisfies fc.Arbitrary<Act>,
  { minLength: 20, maxLength: 60 },
);

interface Reader {
  leave(): void;
}

async function anOpenRun() {
  const installation = new Installation();
  installation.shareAmongTenants();
  const key = await installation.key('dev', { tenantId: 'acme' });
  const answer = await installation.post(key, { type: 'echo', input: { text: 'hello' } });
  const { runId } = (await answer.json()) as { runId: string };
  /** Undefined if it was refused because no place was free. */
  const open = async (path: string): Promise<Reader | undefined> => {
    const gone = new AbortController();
    const headers = { authorization: `Bearer ${key}` };
    const response = installation.api.request(`/v1/runs/${runId}${path}`, { headers, signal: gone.signal });
    let answer: Response | undefined;
    void Promise.resolve(response).then((came) => {
      answer = came;
    });
    await settle();
    if (answer?.status === 429) return undefined;
    return {
      leave() {
        gone.abort();
        void answer?.body?.cancel();
      },
    };
  };
  return open;
}

test('a tenant gets its places back as soon as readers leave', () =>
  fc.assert(
    fc.asyncProperty(acts, async (drawn) => {
      const open = await anOpenRun();
      const readers: Reader[] = [];
      for (const act of drawn) {
        if ('leaves' in act) {
          for (const reader of readers.splice(act.leaves, 1)) reader.leave();
          await settle();
          continue;
        }
        const reader = await open(act.opens);
        expect(reader !== undefined).toBe(readers.length < PLACES);
        if (reader) readers.push(reader);
      }
    }),
    { numRuns: 20 },
  ));
