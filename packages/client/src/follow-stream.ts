/**
 * Reads a stream of the API from a position on. Reconnects with `Last-Event-ID`, because the API ends a stream within a minute
 * and networks end it earlier. Polls where a proxy delivers only complete answers (proxy-buffering.ts).
 */
import type { CairnClient } from './client.ts';
import { isPageInPlace, isPassing, problemOf, Refusal, reasonOf, Unreachable } from './problem.ts';
import { ProxyBuffering } from './proxy-buffering.ts';
import { type EventFrame, framesOf } from './server-sent-events.ts';

export type Streamed =
  /** The stream is open; its data follows. */
  | { readonly kind: 'open' }
  | { readonly kind: 'frame'; readonly frame: EventFrame }
  /** The stream was interrupted and is resumed. */
  | { readonly kind: 'again'; readonly why: string };

/** Limits and pauses of a stream; a page that a person watches differs from a program in the background. */
interface StreamPace {
  /** Consecutive failures after which following ends. An event, or a stream that worked for a while, resets the count. */
  readonly maxFailures: number;
  /** Pause after a stream that ended normally, ms. */
  readonly pauseMs: number;
  /** Pause between two complete answers, each of which is billed, ms. */
  readonly wholePauseMs: number;
  /** Silence after which a stream that sent something is reopened, ms. Default: three messages of the API are missing. */
  readonly silenceMs?: number;
  /** Each complete answer after the first is requested only when this resolves. */
  readonly untilWanted?: () => Promise<void>;
}

export interface Stream {
  /** Path and query; with `follow: false` the answer ends after the current state. */
  readonly target: (follow: { readonly follow?: false }) => string;
  /** `id` of the last known event; undefined: none. */
  readonly after: string | undefined;
  /** Aborts only this stream. */
  readonly signal?: AbortSignal;
  /** Shared with other streams through the same proxy. Default: a new one. */
  readonly passage?: ProxyBuffering;
  readonly pace?: StreamPace;
}

/** The API sends something every 15 s. */
const SILENCE_MS = 45_000;
/** A stream that lasts this long worked, so its end is not a failure. */
const STEADY_MS = 10_000;
/** Time for the first data. The API sends a comment immediately. */
const FIRST_WORD_MS = 5_000;
/** With their pauses, the failures take about a minute. */
const PACE: StreamPace = { maxFailures: 15, pauseMs: 1_000, wholePauseMs: 2_000 };
/** Pause after the first failure, and its upper limit. */
const PAUSE_MS = 500;
const MAX_PAUSE_MS = 5_000;

/**
 * Ends after the event `end`, which is yielded too.
 *
 * @throws Refusal if the API refuses the request, Unreachable after too many consecutive failures
 */
export async function* followStream(client: CairnClient, stream: Stream): AsyncGenerator<Streamed> {
  const { machine } = client;
  const { passage = new ProxyBuffering(), pace = PACE } = stream;
  const signal = stream.signal ? AbortSignal.any([client.signal, stream.signal]) : client.signal;
  const isWholeOnly = () => passage.isWholeOnly(machine.now());
  let seen = stream.after;
  let failures = 0;
  let isWhole = isWholeOnly();
  for (;;) {
    signal.throwIfAborted();
    let why = 'the stream ended before it started';
    let isAlive = false;
    const openedAt = machine.now();
    const onSign = () => {
      isAlive = true;
      if (machine.now() - openedAt >= STEADY_MS) failures = 0;
      if (!isWhole) passage.dataArrived();
    };
    try {
      for await (const part of openStream(client, { stream, after: seen, isWhole, signal, onSign })) {
        yield part;
        if (part.kind !== 'frame') continue;
        failures = 0;
        seen = part.frame.id ?? seen;
        if (part.frame.event === 'end') return;
      }
      if (isAlive) failures = 0;
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof SilentStream) {
        passage.wasSilent(machine.now());
        // Events until now are fetched at once, as a complete answer.
        isWhole = true;
        continue;
      }
      if (error instanceof Refusal && !isPassing(error.problem)) throw error;
      why = error instanceof Refusal ? error.message : reasonOf(error);
      isAlive = false;
    }
    if (!isAlive) {
      failures += 1;
      if (failures >= pace.maxFailures)
        throw new Unreachable(`${client.url} does not respond: ${why}`, undefined);
      yield { kind: 'again', why };
      await machine.sleep(Math.min(PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS), signal);
    } else if (isWholeOnly()) await machine.sleep(pace.wholePauseMs, signal);
    else if (!isWhole) await machine.sleep(pace.pauseMs, signal);
    isWhole = isWholeOnly();
    if (isWhole) await pace.untilWanted?.();
  }
}

/** A stream is open, but no data arrives. */
class SilentStream extends Error {}

interface StreamOpening {
  readonly stream: Stream;
  readonly after: string | undefined;
  readonly isWhole: boolean;
  readonly signal: AbortSignal;
  /** Called when something arrives. */
  onSign(): void;
}

async function* openStream(
  client: CairnClient,
  { stream, after, isWhole, signal, onSign }: StreamOpening,
): AsyncGenerator<Exclude<Streamed, { readonly kind: 'again' }>> {
  const { silenceMs = SILENCE_MS } = stream.pace ?? PACE;
  const silent = new AbortController();
  let watchdog = isWhole
    ? setTimeout(() => silent.abort(new Error('no data received')), SILENCE_MS)
    : setTimeout(() => silent.abort(new SilentStream()), FIRST_WORD_MS);
  try {
    const answer = await client.machine.fetch(
      `${client.url}${stream.target(isWhole ? { follow: false } : {})}`,
      {
        headers: await client.headers({
          accept: 'text/event-stream',
          ...(after === undefined ? {} : { 'last-event-id': after }),
        }),
        redirect: 'manual',
        signal: AbortSignal.any([signal, silent.signal]),
      },
    );
    if (answer.status !== 200 || answer.body === null)
      throw new Refusal(problemOf(answer.status, await answer.text()), undefined);
    if (isPageInPlace(answer)) {
      const { detail, title } = problemOf(answer.status, await answer.text());
      throw new Error(detail ?? title);
    }
    yield { kind: 'open' };
    const restartTimer = () => {
      onSign();
      clearTimeout(watchdog);
      watchdog = setTimeout(() => silent.abort(new Error('no data received')), silenceMs);
    };
    for await (const frame of framesOf(answer.body, restartTimer)) yield { kind: 'frame', frame };
  } finally {
    clearTimeout(watchdog);
  }
}
