/**
 * Follows the events of a run over `GET /v1/runs/{id}/stream`, from a seq on, each once and in order, over every cut: the
 * API ends a stream within a minute, networks sooner. Owns coming back with `Last-Event-ID`, and asking for what there is,
 * again and again, where answers come only when they are whole (Firebase Hosting hands none on before).
 */

import type { Answer } from 'cairn/api/calls';
import type { World } from '../world.ts';
import { type Api, reasonOf, targetOf } from './client.ts';
import { problemOf, Refusal, Unreachable } from './problem.ts';
import { type Frame, framesOf } from './server-sent-events.ts';

export type Event = Answer<'RunEvent'>;

export type Followed =
  | { readonly kind: 'event'; readonly event: Event }
  /** The stream was cut and is taken up again. */
  | { readonly kind: 'again'; readonly why: string }
  | { readonly kind: 'end'; readonly status: string };

export interface Following {
  readonly runId: string;
  /** Seq of the last event that is known; 0 for none. */
  readonly after: number;
  readonly world: World;
}

/** The API says something every 15 s; what is silent for so long is cut. */
const SILENCE_MS = 45_000;
/** In a row, without an event between them. With the pauses between them, about a minute. */
const MOST_FAILURES = 15;
const PAUSE_MS = 1_000;
/** The API begins each stream with a word, at once. */
const FIRST_WORD_MS = 5_000;
/** One may be an instance that has to begin. */
const MUTES = 2;
/** Between two answers that come whole: each is two billed reads. */
const WHOLE_PAUSE_MS = 2_000;
const MOST_PAUSE_MS = 5_000;

/** @throws Refusal if the API will not, Unreachable after too many failures in a row */
export async function* follow(api: Api, { runId, after, world }: Following): AsyncGenerator<Followed> {
  let seen = after;
  let failures = 0;
  let mutes = 0;
  for (;;) {
    let why = 'the stream ended before it had begun';
    const isWhole = mutes >= MUTES;
    let isAlive = false;
    const heard = () => {
      isAlive = true;
    };
    try {
      for await (const frame of openStream(api, { runId, after: seen, world, isWhole }, heard)) {
        failures = 0;
        if (frame.event === 'end') {
          yield { kind: 'end', status: (JSON.parse(frame.data) as { status: string }).status };
          return;
        }
        const event = JSON.parse(frame.data) as Event;
        if (event.seq <= seen) continue;
        seen = event.seq;
        yield { kind: 'event', event };
      }
      if (isAlive) {
        // It came to its end in order: the API lets none be longer than a minute.
        failures = 0;
        await world.sleep(isWhole ? WHOLE_PAUSE_MS : PAUSE_MS, world.interrupted);
        continue;
      }
    } catch (error) {
      if (world.interrupted.aborted) throw error;
      if (error instanceof Mute) {
        mutes += 1;
        continue;
      }
      if (error instanceof Refusal && !isPassing(error)) throw error;
      why = error instanceof Refusal ? error.message : reasonOf(error);
    }
    failures += 1;
    if (failures >= MOST_FAILURES)
      throw new Unreachable(`${api.connection.url} does not answer: ${why}`, undefined);
    yield { kind: 'again', why };
    await world.sleep(Math.min(PAUSE_MS * failures, MOST_PAUSE_MS), world.interrupted);
  }
}

/** A stream is open and nothing of it comes through. */
class Mute extends Error {}

async function* openStream(
  api: Api,
  { runId, after, world, isWhole }: Following & { readonly isWhole: boolean },
  onSign: () => void,
): AsyncGenerator<Frame> {
  const target = targetOf('/v1/runs/{id}/stream', {
    params: { id: runId },
    query: isWhole ? { follow: 'false' } : {},
  });
  const silent = new AbortController();
  let watchdog = isWhole
    ? setTimeout(() => silent.abort(new Error('it fell silent')), SILENCE_MS)
    : setTimeout(() => silent.abort(new Mute()), FIRST_WORD_MS);
  try {
    const answer = await world.fetch(`${api.connection.url}${target}`, {
      headers: api.headers({ accept: 'text/event-stream', 'last-event-id': String(after) }),
      redirect: 'manual',
      signal: AbortSignal.any([world.interrupted, silent.signal]),
    });
    if (answer.status !== 200 || answer.body === null)
      throw new Refusal(problemOf(answer.status, await answer.text()), undefined);
    const heard = () => {
      onSign();
      clearTimeout(watchdog);
      watchdog = setTimeout(() => silent.abort(new Error('it fell silent')), SILENCE_MS);
    };
    yield* framesOf(answer.body, heard);
  } finally {
    clearTimeout(watchdog);
  }
}

function isPassing({ problem: { status } }: Refusal): boolean {
  return status === 429 || status >= 500;
}
