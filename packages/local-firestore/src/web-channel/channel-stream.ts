/**
 * One call with a stream of requests, as its gRPC handler sees it, for a client that has no HTTP/2. Owns what the handler said
 * and the translation to and from JSON; knows no HTTP.
 */
import { EventEmitter } from 'node:events';
import type { JsonCall } from '@cairn/local-kit/rest/json-call';
import type { handleBidiStreamingCall, ServerDuplexStream } from '@grpc/grpc-js';
import { invalid } from '../model/status.ts';
import { errorBody } from '../rest/json-errors.ts';

interface ChannelAnswers {
  /** JSON of an array. False: wait for `drain`. */
  push(text: string): boolean;
  /** Nothing more comes. */
  ended(): void;
}

export class ChannelStream {
  readonly #call = new EventEmitter();
  readonly #messages: JsonCall;
  readonly #answers: ChannelAnswers;
  #hasEnded = false;

  constructor(handler: handleBidiStreamingCall<object, object>, messages: JsonCall, answers: ChannelAnswers) {
    this.#messages = messages;
    this.#answers = answers;
    const inJson = messages.answersIn();
    this.#call.on('error', (error: unknown) => this.#fail(error));
    Object.assign(this.#call, {
      // Statuses come as messages here, not behind headers.
      sendMetadata: () => {},
      write: (message: object) => this.#hasEnded || answers.push(JSON.stringify([inJson(message)])),
      end: () => this.#end(),
    });
    handler(this.#call as unknown as ServerDuplexStream<object, object>);
  }

  take(text: string): void {
    if (this.#hasEnded) return;
    let request: object;
    try {
      request = this.#messages.request(parsed(text));
    } catch (error) {
      this.cancel();
      this.#fail(error);
      return;
    }
    this.#call.emit('data', request);
  }

  drain(): void {
    this.#call.emit('drain');
  }

  /** The client is gone. */
  cancel(): void {
    this.#call.emit('cancelled', 'cancelled');
  }

  #fail(error: unknown): void {
    if (this.#hasEnded) return;
    this.#answers.push(JSON.stringify([errorBody(error)]));
    this.#end();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#answers.push('["close"]');
    this.#answers.ended();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(`Invalid JSON payload received: ${(error as Error).message}`);
  }
}
