/**
 * Format of WebChannel messages: requests are fields of an HTML form; answers are numbered arrays, each after its length. Pure.
 */
import { invalid } from '../model/status.ts';

/** `id` counts the messages of a channel from 0 and identifies repeated requests. */
export interface ForwardedMessage {
  readonly id: number;
  readonly text: string;
}

/** An answer, in JSON. The client acknowledges it by its number. */
export interface NumberedArray {
  readonly id: number;
  readonly text: string;
}

/** Version of the protocol. The server's own version is only reported. */
const VERSION = 8;
const SERVER_VERSION = 12;

export function forwardedMessages(form: URLSearchParams): readonly ForwardedMessage[] {
  const first = Number(form.get('ofs') ?? 0);
  if (!Number.isSafeInteger(first))
    throw invalid(`The offset of the messages is not a number: ${form.get('ofs')}`);
  const messages: ForwardedMessage[] = [];
  for (let i = 0; form.has(`req${i}___data__`); i++) {
    messages.push({ id: first + i, text: form.get(`req${i}___data__`) ?? '' });
  }
  return messages;
}

/** The length is in UTF-16 units, as in clients. */
export const withLength = (text: string): string => `${text.length}\n${text}`;

export const framedArrays = (arrays: readonly NumberedArray[]): string =>
  withLength(`[${arrays.map(({ id, text }) => `[${id},${text}]`).join(',')}]`);

/** The first array of a channel. The client waits 1.5 times `keepAliveMs` for a message. */
export const greeting = (channelId: string, keepAliveMs: number): NumberedArray => ({
  id: 0,
  text: JSON.stringify(['c', channelId, '', VERSION, SERVER_VERSION, keepAliveMs]),
});
