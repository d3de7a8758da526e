/** Sends a whole request to a worker by frames, which saves a second HTTP server between the caller and the function. */
import type { FrameClient } from '@cairn/local-kit/wire/frame-client';
import {
  type AnswerHead,
  decode,
  encode,
  machineMs,
  NOT_SERVED,
  NOT_TAKEN,
  PATH,
  TOO_LATE,
} from './messages.ts';
import type { InFlightRequest, OutgoingRequest } from './request.ts';

/**
 * `late`: the worker did not read it in time. `unserved`: it does not serve the function by frames. `blocked`: a body of a step
 * blocks the worker. `died`: the worker has ended, perhaps by a body.
 */
export type NotTaken = 'blocked' | 'died' | 'ending' | 'late' | 'unserved';

interface LinkRequest extends OutgoingRequest {
  readonly link: FrameClient;
  readonly body: Uint8Array;
  /** True: if a worker does not take the request within {@link TAKE_WITHIN_MS}, another worker gets it. */
  readonly isMovable: boolean;
  /**
   * Another worker repeats the request if a step body ends this worker before it has answered, or keeps it silent for this time in ms.
   * Undefined: the request is not repeated.
   */
  readonly repeatAfterMs: number | undefined;
  /** The worker did not accept or answer it, and is released. */
  notTaken(why: NotTaken): void;
}

/** Much longer than most work between two turns of an event loop. */
const TAKE_WITHIN_MS = 400;
/**
 * Further time for the confirmation of a worker that took the request in time, since the worker may lose the processor in between. Moving
 * the request too early would execute it twice.
 */
const MARGIN_MS = 300;

const WHY: Readonly<Record<number, NotTaken>> = {
  [NOT_TAKEN]: 'ending',
  [NOT_SERVED]: 'unserved',
  [TOO_LATE]: 'late',
};

/** Releases the worker when the request ends. */
export function sendByLink(request: LinkRequest): InFlightRequest {
  const { link, lease, line, body, receiver, isMovable, repeatAfterMs, notTaken } = request;
  let hasHead = false;
  let isStream = false;
  let isOver = false;
  let late: NodeJS.Timeout | undefined;
  const takeBy = machineMs() + TAKE_WITHIN_MS;
  const take = (chunk: Buffer) => {
    if (chunk.length > 0 && !receiver.onData(chunk)) call.pause();
  };
  const call = link.call(PATH, encode({ ...line, takeBy: isMovable ? takeBy : undefined }, body), {
    onMessage(message) {
      clearTimeout(late);
      late = undefined;
      try {
        if (hasHead) {
          take(message);
          return;
        }
        if (message.length === 0) return;
        hasHead = true;
        const answer = decode<AnswerHead>(message);
        isStream = isEventStream(answer.head);
        receiver.onHead(answer.head.status, answer.head.headers);
        take(answer.body);
      } catch (error) {
        // An invalid response, such as a status of 1000. Other requests on this connection are unaffected.
        abort();
        receiver.onFailure(String(error));
      }
    },
    onEnd(failure) {
      isOver = true;
      clearTimeout(late);
      const why = failure?.code === undefined ? undefined : WHY[failure.code];
      // The worker may be dead. Reported before the release, after which a worker that serves once ends normally.
      if (failure && (failure.code === undefined || why === 'ending')) lease.broken();
      lease.release();
      if (failure === undefined) receiver.onEnd();
      else if (why) notTaken(why);
      else if (failure.code === undefined && repeatAfterMs !== undefined && !hasHead) notTaken('died');
      // Another status: the function aborted its response.
      else receiver.onFailure(failure.details);
    },
  });
  const abort = () => {
    if (isOver) return;
    isOver = true;
    clearTimeout(late);
    call.end();
    // The worker still works on the request, as with HTTP.
    if (!hasHead) lease.broken();
    lease.release();
  };
  const leave = (why: NotTaken) => {
    isOver = true;
    clearTimeout(late);
    call.end();
    // May call `onBlocked` of each request of the worker.
    if (why === 'late') lease.late();
    lease.release();
    notTaken(why);
  };
  const move = () => {
    if (!isOver && late !== undefined) leave('late');
  };
  if (repeatAfterMs !== undefined)
    lease.onBlocked = (silentMs) => {
      if (isOver) return;
      if (!hasHead && silentMs >= repeatAfterMs) leave('blocked');
      else if (isStream) {
        abort();
        receiver.onFailure('its worker is busy');
      }
    };
  const moveAt = (at: number) => {
    late = setTimeout(() => {
      // A timer set late in a turn of the event loop fires early by the length of the turn.
      if (machineMs() < at) moveAt(at);
      // Two turns let a busy process first read what has already arrived.
      else setImmediate(() => setImmediate(move));
    }, at - machineMs());
  };
  if (isMovable) moveAt(takeBy + (repeatAfterMs === 0 ? 0 : MARGIN_MS));
  return { abort, resume: () => call.resume() };
}

/** True for an event stream: its reader reconnects and continues after the last event. */
const isEventStream = ({ headers }: AnswerHead) =>
  String(headers['content-type'] ?? '').startsWith('text/event-stream');
