/**
 * Token of a listener's progress: the moment, and the incarnation of the database. Opaque to clients.
 */
import { invalid } from '../../model/status.ts';

export interface SeenUpTo {
  /** Incarnation of the database in this process; another one does not know the changes since. */
  readonly incarnation: string;
  /** Microseconds since 1970. */
  readonly time: number;
}

const TOKEN = /^([0-9a-f-]{36}):(\d{1,16})$/;

export function encodeResumeToken({ incarnation, time }: SeenUpTo): Buffer {
  return Buffer.from(`${incarnation}:${time}`);
}

/** @throws INVALID_ARGUMENT for an invalid token */
export function decodeResumeToken(token: Uint8Array): SeenUpTo {
  const match = TOKEN.exec(Buffer.from(token).toString('latin1'));
  if (!match) throw invalid('The resume token does not belong to this server.');
  return { incarnation: match[1] as string, time: Number(match[2]) };
}
