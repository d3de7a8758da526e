/**
 * Sends many requests at once, each twenty times, while the response to one commit in ten is lost.
 *
 * Must not: depend on the source.
 */
import { control, type Ready } from '../../../packages/local/src/cloud-process.ts';
import type { Answered, Source } from '../entry-points/sources.ts';
import { eventually, type RunView, tryGet } from '../support.ts';

export const KEYS = Number(process.env.STORM_KEYS ?? 15);
export const REQUESTS = KEYS * 20;
const LOST = [{ call: 'Commit', probability: 0.1, fault: { kind: 'lost-answer' } }];
/** More runs than any source starts, so that a superfluous one is found. */
const LISTED = 100;

/** Calls `work` while responses to commits are lost. `lost` is the number of lost ones. */
export async function losing<T>(ready: Ready, work: () => Promise<T>): Promise<{ result: T; lost: number }> {
  await control(ready, 'PUT', '/faults', { seed: 20_261_122, rules: LOST });
  try {
    const result = await work();
    const { injected } = await control<{ injected: Record<string, number> }>(ready, 'GET', '/faults');
    return { result, lost: injected['lost-answer'] ?? 0 };
  } finally {
    await control(ready, 'DELETE', '/faults');
  }
}

/** Responses by key, in no order. */
export async function storm(ready: Ready, source: Source): Promise<ReadonlyMap<string, readonly Answered[]>> {
  const sent = Array.from({ length: REQUESTS }, async (_, i) => {
    const key = `storm-${i % KEYS}`;
    return { key, answer: await source.send(ready, key) };
  });
  const answers = new Map<string, Answered[]>();
  for (const { key, answer } of await Promise.all(sent)) {
    answers.set(key, [...(answers.get(key) ?? []), answer]);
  }
  return answers;
}

/** The runs of the source, once all have the expected status. */
export function rested(
  ready: Ready,
  { query, rest }: Pick<Source, 'query' | 'rest'>,
): Promise<readonly RunView[]> {
  return eventually(`all runs to be ${rest}`, async () => {
    const page = await tryGet<{ items: RunView[]; next?: string }>(
      ready,
      `/v1/runs?${query}&limit=${LISTED}`,
    );
    if (page?.next !== undefined) throw new Error(`more than ${LISTED} runs`);
    return page?.items.every(({ status }) => status === rest) ? page.items : undefined;
  });
}
