/**
 * Calls an HTTP hook of the operator: one POST, one response. Owns the meaning of a response for the calling step: done, retry,
 * or final failure.
 *
 * Must not: repeat a call; the step's policy does, with the same `Idempotency-Key`.
 */

import { Fatal, type Json } from 'cairn';
import type { OutsideCall } from '../workflows/outside-call.ts';

/** Far above the size of a hook's response. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** Statuses of the 4xx range that are temporary: timeout, conflict, locked, too early, too many requests. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 423, 425, 429]);

type HookAnswer = Readonly<Record<string, unknown>>;

export class Hook {
  readonly #name: string;
  readonly #url: string;

  /** @param name used in errors instead of the URL, which may contain a secret */
  constructor(name: string, url: string) {
    this.#name = name;
    this.#url = url;
  }

  /**
   * @returns the members of the response; none if it is not a JSON object
   * @throws Fatal for a permanent failure, Error for one that may be temporary
   */
  async call(body: Json, { key, signal }: OutsideCall): Promise<HookAnswer> {
    const response = await this.#post(body, key, signal);
    const { status } = response;
    if (status >= 200 && status < 300) return members(await this.#textOf(response));
    await response.body?.cancel();
    const problem = `${this.#name} answered ${status}`;
    if (status >= 500 || PASSING.has(status)) throw new Error(problem);
    throw new Fatal(problem);
  }

  async #post(body: Json, key: string, signal: AbortSignal): Promise<Response> {
    try {
      return await fetch(this.#url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(body),
        // A redirect is an error: the URL of a hook that has moved must be configured again.
        redirect: 'manual',
        signal,
      });
    } catch (cause) {
      throw new Error(`${this.#name} could not be reached`, { cause });
    }
  }

  async #textOf(response: Response): Promise<string> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES)
        throw new Fatal(`${this.#name} answered more than ${MAX_ANSWER_BYTES} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  }
}

/** Only the status of an action hook's response matters, so a body that is not JSON has no members. */
function members(text: string): HookAnswer {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as HookAnswer) : {};
  } catch {
    return {};
  }
}
