/** Failures of calls: injected faults, refusals and defects. Shared by all calls. */
import { Metadata, type ServerWritableStream } from '@grpc/grpc-js';
import { MAX_REQUEST_BYTES } from '../../model/limits.ts';
import { Code, invalid, StatusError, trailerText } from '../../model/status.ts';
import { requestBytes } from '../../wire/protocol.ts';
import type { CallContext } from './call.ts';
import { requestPaths } from './request-paths.ts';

interface UnderFault {
  /** Runs the handler; then drops its response or ends the process if the fault requires it. */
  run<T>(handler: () => T | Promise<T>): Promise<T>;
  /** Number of messages delivered before the stream is cut. */
  readonly messages: number;
}

export async function underFault(
  name: string,
  request: unknown,
  { faults }: CallContext,
): Promise<UnderFault> {
  checkSize(request as object);
  const fault = faults.draw(name, () => requestPaths(request));
  const messages = fault?.kind === 'cut-stream' ? fault.afterMessages : Number.POSITIVE_INFINITY;
  switch (fault?.kind) {
    case 'latency':
      await new Promise((resolve) => setTimeout(resolve, fault.ms));
      break;
    case 'aborted':
      throw new StatusError(
        Code.ABORTED,
        'Injected: too much contention on these documents. Please try again.',
      );
    case 'unavailable':
      throw injected('The service is unavailable.');
    case 'lost-answer':
    case 'crash':
      return {
        messages,
        run: async (handler) => {
          await handler();
          if (fault.kind === 'crash') faults.crash();
          throw injected('The answer was lost.');
        },
      };
  }
  return { messages, run: async (handler) => handler() };
}

function checkSize(request: object): void {
  const bytes = requestBytes(request);
  if (bytes > MAX_REQUEST_BYTES) {
    throw invalid(`Request payload size exceeds the limit: ${MAX_REQUEST_BYTES} bytes; it has ${bytes}.`);
  }
}

/** Injected end of a stream. */
export function cut(): StatusError {
  return injected('The stream was cut.');
}

function injected(what: string): StatusError {
  return new StatusError(Code.UNAVAILABLE, `Injected: ${what}`);
}

/**
 * Sends headers before the error, as production does: the client's transport treats a stream without headers as a lost connection,
 * and tries twice more, seconds apart.
 */
export function refuse(
  call: Pick<ServerWritableStream<unknown, object>, 'sendMetadata' | 'emit'>,
  status: { code: number; details: string },
): void {
  call.sendMetadata(new Metadata());
  call.emit('error', status);
}

export function toStatus(error: unknown): { code: number; details: string } {
  if (error instanceof StatusError) return { code: error.code, details: trailerText(error.message) };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: Code.INTERNAL, details: trailerText(`Defect in the local Firestore server: ${text}`) };
}
