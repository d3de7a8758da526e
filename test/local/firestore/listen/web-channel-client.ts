/** A WebChannel without the client library, so that a test decides what to read, acknowledge and repeat. */
import { database } from '../support/requests.ts';

const MAX_READS = 200;
const PATIENCE_MS = 120_000;

type Numbered = readonly [id: number, array: unknown];

export class ChannelClient {
  /** Answers by number. A repeated answer must be unchanged. */
  readonly received = new Map<number, unknown>();
  readonly #base: string;
  #id: string | undefined;
  #request = 100;
  #sent = 0;
  #body = '';

  constructor(host: string, call: 'Listen' | 'Write') {
    this.#base = `http://${host}/google.firestore.v1.Firestore/${call}/channel`;
  }

  /** Number up to which all answers have arrived. */
  get complete(): number {
    let last = 0;
    while (this.received.has(last + 1)) last++;
    return last;
  }

  /** Answers of the call, without keep-alives. */
  get answers(): readonly unknown[] {
    const arrays = Array.from({ length: this.complete }, (_, i) => this.received.get(i + 1));
    return arrays.filter((array) => !(Array.isArray(array) && array[0] === 'noop'));
  }

  /** Opens the channel at the first call. Resolves with the first frame of the response. */
  async send(...messages: readonly object[]): Promise<unknown> {
    const form = messages.map((message, i) => [`req${i}___data__`, JSON.stringify(message)]);
    this.#body = new URLSearchParams([
      ['count', String(messages.length)],
      ['ofs', String(this.#sent)],
      ...(form as [string, string][]),
    ]).toString();
    this.#sent += messages.length;
    this.#request++;
    return this.repeat();
  }

  /** Sends the last request again, as after a lost response. */
  async repeat(): Promise<unknown> {
    const id = this.#id === undefined ? {} : { SID: this.#id, AID: String(this.complete) };
    const response = await this.#fetch({ ...id, RID: String(this.#request), CVER: '22' }, 'POST', this.#body);
    const [first] = framesOf(await response.text());
    if (this.#id === undefined) this.#id = (first as [[0, ['c', string]]])[0][1][1];
    return first;
  }

  /** Reads until the answers suffice. @throws Error if this takes too many back channels or too long */
  async readUntil(suffice: (answers: readonly unknown[]) => boolean): Promise<void> {
    for (let left = MAX_READS; !suffice(this.answers); left--) {
      if (left === 0) throw new Error(`not answered: ${JSON.stringify(this.answers.at(-1))}`);
      await this.read();
    }
  }

  /** Opens the back channel and reads the first frames, of a stream until it is cut. */
  async read({ longPoll = true, acknowledged = this.complete } = {}): Promise<void> {
    const cut = new AbortController();
    const query = { SID: String(this.#id), AID: String(acknowledged), CI: longPoll ? '1' : '0' };
    const response = await this.#fetch(
      { ...query, RID: 'rpc', TYPE: 'xmlhttp' },
      'GET',
      undefined,
      cut.signal,
    );
    if (longPoll) {
      this.#keep(await response.text());
      return;
    }
    const { value } = (await response.body?.getReader().read()) ?? {};
    cut.abort();
    this.#keep(Buffer.from(value ?? []).toString());
  }

  async terminate(): Promise<void> {
    await this.#fetch({ SID: String(this.#id), RID: '999', TYPE: 'terminate' }, 'POST', '');
  }

  #keep(text: string): void {
    for (const frame of framesOf(text)) {
      for (const [id, array] of frame as readonly Numbered[]) {
        const before = this.received.get(id);
        if (before !== undefined && JSON.stringify(before) !== JSON.stringify(array))
          throw new Error(`answer ${id} came with two contents`);
        this.received.set(id, array);
      }
    }
  }

  #fetch(
    query: Record<string, string>,
    method: string,
    body?: string,
    signal?: AbortSignal,
  ): Promise<Response> {
    const address = `${this.#base}?${new URLSearchParams({ VER: '8', database, ...query })}`;
    return fetch(address, {
      method,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      ...(body !== undefined && { body }),
      signal: AbortSignal.any([AbortSignal.timeout(PATIENCE_MS), ...(signal ? [signal] : [])]),
    });
  }
}

/** Complete frames; ignores one that was cut. */
function framesOf(text: string): readonly unknown[] {
  const frames: unknown[] = [];
  let at = 0;
  for (;;) {
    const line = text.indexOf('\n', at);
    const length = Number(text.slice(at, line));
    if (line === -1 || text.length < line + 1 + length) return frames;
    at = line + 1 + length;
    frames.push(JSON.parse(text.slice(line + 1, at)));
  }
}
