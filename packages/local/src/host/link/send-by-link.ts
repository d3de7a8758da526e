/** Sends a whole request to a worker by frames: without a second HTTP server between its caller and the function. */
import type { FrameClient } from '@cairn/local-kit/wire/frame-client';
import type { Sending, Sent } from './carried.ts';
import { type AnswerHead, decode, encode, NOT_TAKEN, PATH } from './messages.ts';

interface LinkSending extends Sending {
  readonly link: FrameClient;
  readonly body: Uint8Array;
  /** The worker is ending and has not looked at it; the place is given back. */
  notTaken(): void;
}

/** The place is given back when the request is over, however it ends. */
export function sendByLink({ link, lease, line, body, receiver, notTaken }: LinkSending): Sent {
  let hasHead = false;
  let isOver = false;
  const take = (chunk: Buffer) => {
    if (chunk.length > 0 && !receiver.onData(chunk)) call.pause();
  };
  const call = link.call(PATH, encode(line, body), {
    onMessage(message) {
      if (hasHead) {
        take(message);
        return;
      }
      hasHead = true;
      const answer = decode<AnswerHead>(message);
      receiver.onHead(answer.head.status, answer.head.headers);
      take(answer.body);
    },
    onEnd(failure) {
      isOver = true;
      lease.release();
      if (failure === undefined) receiver.onEnd();
      else if (failure.code === NOT_TAKEN) {
        lease.broken();
        notTaken();
      } else {
        // A lost connection: the worker may be dead. A status: the function cut its answer.
        if (failure.code === undefined) lease.broken();
        receiver.onFailure(failure.details);
      }
    },
  });
  return {
    abort() {
      if (isOver) return;
      isOver = true;
      call.end();
      lease.release();
    },
    resume: () => call.resume(),
  };
}
