/** The part of Express's request that functions with whole requests may read. */
import type { LinkMessage, RequestHead } from './messages.ts';

const JSON_TYPE = /^application\/(?:[^;\s]+\+)?json\s*(?:;|$)/i;

export class WholeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Undefined without a body. */
  readonly rawBody: Buffer | undefined;
  readonly #bytes: Buffer;
  #parsed: { readonly body: unknown } | undefined;

  constructor({ head, body }: LinkMessage<RequestHead>) {
    this.method = head.method;
    this.url = head.path;
    // The form of Node's HTTP server.
    this.headers = Object.fromEntries(
      Object.entries(head.headers).map(([name, value]) => [
        name.toLowerCase(),
        typeof value === 'number' ? String(value) : value,
      ]),
    );
    this.rawBody = this.header('content-length') === undefined ? undefined : body;
    this.#bytes = body;
  }

  /**
   * Parsed JSON; undefined if it does not parse; an empty object without a body. Parsed on first use, so that a function can check its
   * caller first.
   */
  get body(): unknown {
    this.#parsed ??= {
      body: this.#bytes.length > 0 ? parsed(this.#bytes, this.header('content-type')) : {},
    };
    return this.#parsed.body;
  }

  header(name: string): string | readonly string[] | undefined {
    return this.headers[name.toLowerCase()];
  }

  get(name: string): string | readonly string[] | undefined {
    return this.header(name);
  }
}

function parsed(body: Buffer, type: string | readonly string[] | undefined): unknown {
  if (!JSON_TYPE.test(String(type))) return body;
  try {
    const value: unknown = JSON.parse(body.toString());
    // Like Express: the JSON of a request is an object or an array.
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
