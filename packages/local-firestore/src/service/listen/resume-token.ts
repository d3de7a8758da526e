/**
 * Token of a listener's progress: the moment, and the incarnation of the database. Opaque to clients.
 */
export interface SeenUpTo {
  /** Incarnation of the database in this process. Another incarnation does not know the later changes. */
  readonly incarnation: string;
  /** Microseconds since 1970. */
  readonly time: number;
}

const TOKEN = /^([0-9a-f-]{36}):(\d{1,16})$/;

export function encodeResumeToken({ incarnation, time }: SeenUpTo): Buffer {
  return Buffer.from(`${incarnation}:${time}`);
}

/** Undefined for a token of another server: a phone may keep a token of the official emulator for the same project. */
export function decodeResumeToken(token: Uint8Array): SeenUpTo | undefined {
  const match = TOKEN.exec(Buffer.from(token).toString('latin1'));
  return match ? { incarnation: match[1] as string, time: Number(match[2]) } : undefined;
}
