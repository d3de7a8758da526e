/**
 * Reads a stream of the API from a position on, across interruptions: the API ends a stream within a minute, networks earlier.
 * Reconnects with `Last-Event-ID`, and polls where a proxy delivers only complete answers (such as Firebase Hosting).
 */

import type { CairnClient } from './client.ts';
import { problemOf, Refusal, reasonOf, Unreachable } from './problem.ts';
import { type EventFrame, framesOf } from './server-sent-events.ts';

export type Streamed =
  | { readonly kind: 'frame'; readonly frame: EventFrame }
  /** The stream was interrupted and is resumed. */
  | { readonly kind: 'again'; readonly why: string };

export interface Stream {
  /** Path and query; with the parameters of `follow` the answer ends after the current state. */
  readonly target: (follow: { readonly follow?: false }) => string;
  /** `id` of the last known event; undefined: none. */
  readonly after: string | undefined;
}

/** The API sends something every 15 s; a stream that is silent for longer is closed. */
const SILENCE_MS = 45_000;
/** Failures in a row, without an event between them. With the pauses between them, about a minute. */
const MAX_FAILURES = 15;
const PAUSE_MS = 1_000;
/** The API starts each stream with a comment immediately. */
const FIRST_WORD_MS = 5_000;
/** The first may be a cold start. */
const MUTES = 2;
/** Pause between two complete answers: each is two billed reads. */
const WHOLE_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 5_000;

/**
 * Ends with the event `end`, which is returned too.
 *
 * @throws Refusal if the API will not, Unreachable after too many failures in a row
 */
export async function* followStream(client: CairnClient, stream: Stream): AsyncGenerator<Streamed> {
  const { machine, signal } = client;
  let seen = stream.after;
  let failures = 0;
  let mutes = 0;
  for (;;) {
    let why = 'the stream ended before it started';
    const isWhole = mutes >= MUTES;
    let isAlive = false;
    const restartTimer = () => {
      isAlive = true;
    };
    try {
      for await (const frame of openStream(client, { stream, after: seen, isWhole }, restartTimer)) {
        failures = 0;
        seen = frame.id ?? seen;
        yield { kind: 'frame', frame };
        if (frame.event === 'end') return;
      }
      if (isAlive) {
        // A regular end: the API ends every stream within a minute.
        failures = 0;
        await machine.sleep(isWhole ? WHOLE_PAUSE_MS : PAUSE_MS, signal);
        continue;
      }
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof Mute) {
        mutes += 1;
        continue;
      }
      if (error instanceof Refusal && !isPassing(error)) throw error;
      why = error instanceof Refusal ? error.message : reasonOf(error);
    }
    failures += 1;
    if (failures >= MAX_FAILURES) throw new Unreachable(`${client.url} does not respond: ${why}`, undefined);
    yield { kind: 'again', why };
    await machine.sleep(Math.min(PAUSE_MS * failures, MAX_PAUSE_MS), signal);
  }
}

/** A stream is open and nothing arrives. */
class Mute extends Error {}

interface StreamOpening {
  readonly stream: Stream;
  readonly after: string | undefined;
  readonly isWhole: boolean;
}

async function* openStream(
  client: CairnClient,
  { stream, after, isWhole }: StreamOpening,
  onSign: () => void,
): AsyncGenerator<EventFrame> {
  const silent = new AbortController();
  let watchdog = isWhole
    ? setTimeout(() => silent.abort(new Error('no data received')), SILENCE_MS)
    : setTimeout(() => silent.abort(new Mute()), FIRST_WORD_MS);
  try {
    const answer = await client.machine.fetch(
      `${client.url}${stream.target(isWhole ? { follow: false } : {})}`,
      {
        headers: await client.headers({
          accept: 'text/event-stream',
          ...(after === undefined ? {} : { 'last-event-id': after }),
        }),
        redirect: 'manual',
        signal: AbortSignal.any([client.signal, silent.signal]),
      },
    );
    if (answer.status !== 200 || answer.body === null)
      throw new Refusal(problemOf(answer.status, await answer.text()), undefined);
    const restartTimer = () => {
      onSign();
      clearTimeout(watchdog);
      watchdog = setTimeout(() => silent.abort(new Error('no data received')), SILENCE_MS);
    };
    yield* framesOf(answer.body, restartTimer);
  } finally {
    clearTimeout(watchdog);
  }
}

function isPassing({ problem: { status } }: Refusal): boolean {
  return status === 429 || status >= 500;
}
