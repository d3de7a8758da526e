/** Repeats requests that a busy cloud refused, and counts them, so that repetitions do not hide a defect. */
import type { Ready } from '../../packages/local/src/cloud-process.ts';
import { waitFor } from './notes.ts';

/** Status with which a busy cloud asks for a repetition. */
const UNAVAILABLE = 503;
/** A slow machine refuses some requests of a burst, but not most. */
const MOST_REFUSED = { requests: 5, share: 0.5 };

type Cloud = Pick<Ready, 'gateway'>;

interface Counts {
  requests: number;
  /** Requests that were refused at least once. */
  refused: number;
}

const countsByCloud = new Map<string, Counts>();

/** Sends until the answer is not 503. `send` must send the same request each time, with its key. */
export async function untilTaken<T extends { readonly status: number }>(
  { gateway }: Cloud,
  what: string,
  send: () => Promise<T>,
): Promise<T> {
  const counts = countsByCloud.get(gateway) ?? { requests: 0, refused: 0 };
  countsByCloud.set(gateway, counts);
  let isRefused = false;
  try {
    return await waitFor(what, async () => {
      const answer = await send();
      if (answer.status !== UNAVAILABLE) return answer;
      isRefused = true;
      return undefined;
    });
  } finally {
    counts.requests += 1;
    if (isRefused) counts.refused += 1;
  }
}

/** Checks a cloud without faults at its end. @throws Error if it refused more requests than a slow machine explains */
export function assertFewRefused({ gateway }: Cloud): void {
  const { requests, refused } = countsByCloud.get(gateway) ?? { requests: 0, refused: 0 };
  if (refused > MOST_REFUSED.requests + MOST_REFUSED.share * requests)
    throw new Error(`${refused} of ${requests} requests were answered with 503 at first`);
}
