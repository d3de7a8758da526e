/**
 * Requests and responses whose whole body is in memory. The platform's classes wrap each body in a stream, which costs more
 * than the rest of a small request; these classes create the stream only on demand.
 */

export class BufferedRequest extends Request {
  readonly whole: Buffer;

  constructor(url: string, init: Pick<RequestInit, 'method' | 'headers'>, body: Buffer) {
    super(url, init);
    this.whole = body;
  }
}

/** A response with a body of text; `headers` name its content type. */
export class TextResponse extends Response {
  readonly whole: string;

  constructor(body: string, init?: ResponseInit) {
    super(null, init);
    this.whole = body;
  }
}

/** Like `Response.json`. */
export function jsonResponse(value: unknown, init?: ResponseInit): Response {
  const response = new TextResponse(JSON.stringify(value), init);
  if (!response.headers.has('content-type')) response.headers.set('content-type', 'application/json');
  return response;
}

const READERS = ['text', 'json', 'arrayBuffer', 'bytes', 'blob', 'formData', 'clone'] as const;

/** Delegates all body members to a message of the platform, which `make` creates at the first access. */
function readBy<W extends Request | Response>(prototype: W, make: (whole: W) => Request | Response): void {
  const made = new WeakMap<W, Request | Response>();
  const messageOf = (whole: W) => {
    const message = made.get(whole) ?? make(whole);
    made.set(whole, message);
    return message;
  };
  for (const reader of READERS)
    Object.defineProperty(prototype, reader, {
      value(this: W) {
        return messageOf(this)[reader]();
      },
    });
  Object.defineProperties(prototype, {
    body: {
      get(this: W) {
        return messageOf(this).body;
      },
    },
    bodyUsed: {
      get(this: W) {
        return made.get(this)?.bodyUsed ?? false;
      },
    },
  });
}

readBy(
  BufferedRequest.prototype,
  ({ url, method, headers, whole }) => new Request(url, { method, headers, body: new Uint8Array(whole) }),
);
readBy(
  TextResponse.prototype,
  ({ status, statusText, headers, whole }) => new Response(whole, { status, statusText, headers }),
);
