/** Reads the body of a request as JSON, up to a bound. */
import type { IncomingMessage } from 'node:http';

export interface BodyRefusals {
  readonly maxBytes: number;
  readonly tooLarge: () => Error;
  readonly malformed: (why: string) => Error;
}

/**
 * Undefined: there is no body.
 *
 * @throws the errors of `refusals`
 */
export async function jsonBody(request: IncomingMessage, refusals: BodyRefusals): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > refusals.maxBytes) throw refusals.tooLarge();
    chunks.push(chunk);
  }
  if (size === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    throw refusals.malformed((error as Error).message);
  }
}
