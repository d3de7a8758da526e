/**
 * Changes many runs in small requests, so that progress is visible and the change can be stopped. Runs without an outcome are
 * sent again. All requests must name the same batch, so that each run is changed once.
 */
import type { Answer } from 'cairn/api/calls';
import { type Problem, Refusal, Unreachable } from './problem.ts';
import { type SendAllOptions, type SendState, sendAll } from './send-all.ts';
import { THIS_MACHINE } from './transport.ts';

export type BulkResult = Answer<'BulkReport'>['results'][number];

/** Runs of one request. */
export const BULK_CHUNK = 10;
/** Maximum of requests for a run without an outcome. */
const MAX_ATTEMPTS = 4;
/** Pause before runs without an outcome are sent again. */
const PAUSE_MS = 2_000;
/** Status while a request with the same key is in progress. */
const IN_PROGRESS = 202;

export interface SendBulkOptions<T> extends Omit<SendAllOptions<T, BulkResult>, 'work'> {
  /**
   * Sends one request; `items` are distinct. Each attempt must make the same change under a new idempotency key: if a worker
   * died, its key stays in use for minutes.
   *
   * @param attempt from 1
   */
  send(items: readonly T[], attempt: number): Promise<Pick<Answer<'BulkReport'>, 'results'>>;
}

interface BulkAttempt<T> {
  /** From 1. */
  readonly attempt: number;
  /** Items without an outcome. */
  readonly some: readonly T[];
}

/** Resolves when each item has an outcome, or, after an abort, when the requests in progress have ended. Never throws. */
export async function sendBulk<T>(items: readonly T[], options: SendBulkOptions<T>): Promise<void> {
  const { send, onSent, signal, sleep = THIS_MACHINE.sleep, ...running } = options;
  const report = (some: readonly T[], sent: SendState<BulkResult>) => {
    for (const item of some) onSent(item, sent);
  };
  /** Next request of each chunk. A rate-limited request is repeated unchanged, with its key. */
  const next = new Map<readonly T[], BulkAttempt<T>>();
  const nextOf = (chunk: readonly T[]) => next.get(chunk) ?? { attempt: 1, some: chunk };
  const sendChunk = async (chunk: readonly T[]): Promise<void> => {
    for (;;) {
      const { attempt, some } = nextOf(chunk);
      const isLast = attempt === MAX_ATTEMPTS || signal.aborted;
      const results = await send(some, attempt).then(
        (answer) => answer.results,
        (error: unknown) => {
          const status = error instanceof Unreachable ? error.status : running.refusalOf(error)?.status;
          // Most runs of the request may have an outcome.
          if (isLast || status !== IN_PROGRESS) throw error;
        },
      );
      if (results && results.length !== some.length)
        throw new Error(`${some.length} runs were sent, and ${results.length} outcomes were returned`);
      const again = some.filter((item, i) => {
        const result = results?.[i];
        if (!result || (result.outcome === 'retry' && !isLast)) return true;
        onSent(item, result.problem ? failed(result.problem) : { at: 'done', answer: result });
        return false;
      });
      next.set(chunk, { attempt: attempt + 1, some: again });
      if (again.length === 0) return;
      await sleep(PAUSE_MS, signal);
    }
  };
  await sendAll(chunksOf(items), {
    ...running,
    signal,
    sleep,
    work: sendChunk,
    onSent(chunk, sent) {
      if (sent.at !== 'done') report(nextOf(chunk).some, sent);
    },
  });
}

function failed(problem: NonNullable<BulkResult['problem']>): SendState<BulkResult> {
  return { at: 'failed', error: new Refusal(problem as Problem, undefined) };
}

function chunksOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  const chunks: (readonly T[])[] = [];
  for (let from = 0; from < items.length; from += BULK_CHUNK)
    chunks.push(items.slice(from, from + BULK_CHUNK));
  return chunks;
}
