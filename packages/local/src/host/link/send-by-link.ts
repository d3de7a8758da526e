/** Sends a whole request to a worker by frames, which saves a second HTTP server between the caller and the function. */
import type { FrameClient } from '@cairn/local-kit/wire/frame-client';
import { type AnswerHead, decode, encode, NOT_SERVED, NOT_TAKEN, PATH } from './messages.ts';
import type { InFlightRequest, OutgoingRequest } from './request.ts';

interface LinkRequest extends OutgoingRequest {
  readonly link: FrameClient;
  readonly body: Uint8Array;
  /** The worker did not accept it, and is released. @param isServed false if it does not serve the function by frames */
  notTaken(isServed: boolean): void;
}

/** Releases the worker when the request ends. */
export function sendByLink({ link, lease, line, body, receiver, notTaken }: LinkRequest): InFlightRequest {
  let hasHead = false;
  let isOver = false;
  const take = (chunk: Buffer) => {
    if (chunk.length > 0 && !receiver.onData(chunk)) call.pause();
  };
  const call = link.call(PATH, encode(line, body), {
    onMessage(message) {
      try {
        if (hasHead) {
          take(message);
          return;
        }
        hasHead = true;
        const answer = decode<AnswerHead>(message);
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
      // The worker may be dead. Reported before its release, which is the normal end of a worker that serves once.
      if (failure && (failure.code === undefined || failure.code === NOT_TAKEN)) lease.broken();
      lease.release();
      if (failure === undefined) receiver.onEnd();
      else if (failure.code === NOT_TAKEN || failure.code === NOT_SERVED)
        notTaken(failure.code === NOT_TAKEN);
      // Another status: the function aborted its response.
      else receiver.onFailure(failure.details);
    },
  });
  const abort = () => {
    if (isOver) return;
    isOver = true;
    call.end();
    // The worker still works on the request, as with HTTP.
    if (!hasHead) lease.broken();
    lease.release();
  };
  return { abort, resume: () => call.resume() };
}
