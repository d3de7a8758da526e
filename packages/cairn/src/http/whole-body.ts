/**
 * Requests and responses whose body is in hand whole. The web's own wrap each body in a stream, which takes longer to make and to read than
 * all else of a small request; here it is made for those alone who ask for it.
 */

type Streamed =
  | 'body'
  | 'bodyUsed'
  | 'text'
  | 'json'
  | 'arrayBuffer'
  | 'bytes'
  | 'blob'
  | 'formData'
  | 'clone';

/** The platform's classes without what is overridden: their types have properties there. */
const BareRequest = Request as unknown as new (url: string, init: RequestInit) => Omit<Request, Streamed>;
const BareResponse = Response as unknown as new (
  body: null,
  init: ResponseInit | undefined,
) => Omit<Response, Streamed>;

/** A request with a body. */
export class WholeRequest extends BareRequest implements Request {
  readonly whole: Buffer;
  #streamed: Request | undefined;

  constructor(url: string, init: Pick<RequestInit, 'method' | 'headers'>, body: Buffer) {
    super(url, init);
    this.whole = body;
  }

  #made(): Request {
    const { url, method, headers } = this;
    this.#streamed ??= new Request(url, { method, headers, body: new Uint8Array(this.whole) });
    return this.#streamed;
  }

  get body() {
    return this.#made().body;
  }

  get bodyUsed() {
    return this.#streamed?.bodyUsed ?? false;
  }

  text() {
    return this.#made().text();
  }

  json() {
    return this.#made().json();
  }

  arrayBuffer() {
    return this.#made().arrayBuffer();
  }

  bytes() {
    return this.#made().bytes();
  }

  blob() {
    return this.#made().blob();
  }

  formData() {
    return this.#made().formData();
  }

  clone() {
    return this.#made().clone();
  }
}

/** A response with a body of text; `headers` name its content type. */
export class WholeResponse extends BareResponse implements Response {
  readonly whole: string;
  #streamed: Response | undefined;

  constructor(body: string, init?: ResponseInit) {
    super(null, init);
    this.whole = body;
  }

  #made(): Response {
    const { status, statusText, headers } = this;
    this.#streamed ??= new Response(this.whole, { status, statusText, headers });
    return this.#streamed;
  }

  get body() {
    return this.#made().body;
  }

  get bodyUsed() {
    return this.#streamed?.bodyUsed ?? false;
  }

  text() {
    return this.#made().text();
  }

  json() {
    return this.#made().json();
  }

  arrayBuffer() {
    return this.#made().arrayBuffer();
  }

  bytes() {
    return this.#made().bytes();
  }

  blob() {
    return this.#made().blob();
  }

  formData() {
    return this.#made().formData();
  }

  clone() {
    return this.#made().clone();
  }
}

/** As `Response.json`. */
export function jsonResponse(value: unknown, init?: ResponseInit): Response {
  const response = new WholeResponse(JSON.stringify(value), init);
  if (!response.headers.has('content-type')) response.headers.set('content-type', 'application/json');
  return response;
}
