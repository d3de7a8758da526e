/** Reads the body of a request as bytes, text or JSON, up to a size limit. */
import type { IncomingMessage } from 'node:http';

export interface BodyRefusals {
  readonly maxBytes: number;
  readonly tooLarge: () => Error;
  readonly malformed: (why: string) => Error;
}

type SizeRefusal = Pick<BodyRefusals, 'maxBytes' | 'tooLarge'>;

/**
 * Resolves with undefined if there is no body.
 *
 * @throws the errors of `refusals`
 */
export async function jsonBody(request: IncomingMessage, refusals: BodyRefusals): Promise<unknown> {
  const text = await textBody(request, refusals);
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refusals.malformed((error as Error).message);
  }
}

/** @throws `refusals.tooLarge` */
export async function textBody(request: IncomingMessage, refusals: SizeRefusal): Promise<string> {
  return (await bytesBody(request, refusals)).toString('utf8');
}

/** @throws `refusals.tooLarge` */
export async function bytesBody(
  request: IncomingMessage,
  { maxBytes, tooLarge }: SizeRefusal,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
