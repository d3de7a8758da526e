/**
 * A storm: requests at once, each twenty times over, while one acknowledged commit in ten is not heard of.
 *
 * Must not: know what a source is; it sends, and its answers are looked at.
 */
import { control, type Ready } from '../../../packages/local/src/cloud-process.ts';
import type { Answered, Source } from '../doors/sources.ts';
import { eventually, look, type RunView } from '../support.ts';

export const KEYS = Number(process.env.STORM_KEYS ?? 15);
export const REQUESTS = KEYS * 20;
const LOST = [{ call: 'Commit', probability: 0.1, fault: { kind: 'lost-answer' } }];
/** More than any source makes here, so that one run too many would be seen. */
const LISTED = 100;

/** Does something while acknowledgements are lost. @returns also how many were */
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

/** The answers to each key, in no order. */
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

/** The runs of the source once all of them have come to rest. */
export function rested(
  ready: Ready,
  { query, rest }: Pick<Source, 'query' | 'rest'>,
): Promise<readonly RunView[]> {
  return eventually(`all runs to be ${rest}`, async () => {
    const page = await look<{ items: RunView[]; next?: string }>(ready, `/v1/runs?${query}&limit=${LISTED}`);
    if (page?.next !== undefined) throw new Error(`more than ${LISTED} runs`);
    return page?.items.every(({ status }) => status === rest) ? page.items : undefined;
  });
}
