/**
 * The gRPC stream of one call for a client without HTTP/2. Owns the status of the handler and the translation to and from JSON; knows no
 * HTTP.
 */
import { EventEmitter } from 'node:events';
import type { JsonCall } from '@cairn/local-kit/rest/json-call';
import type { handleBidiStreamingCall, ServerDuplexStream } from '@grpc/grpc-js';
import { invalid } from '../model/status.ts';
import { errorBody } from '../rest/json-errors.ts';

interface ChannelAnswers {
  /** @param text JSON of an array. @returns false if the handler must wait for `drain` */
  push(text: string): boolean;
  /** Called after the last push. */
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
      // Statuses are sent as messages here, so there are no headers.
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

  /** Call it when the client is gone. */
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
