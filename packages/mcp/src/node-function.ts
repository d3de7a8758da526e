/** The handler as a Cloud Function: between the Express request and response of the platform and those of the web. */
import { type HandlerOptions, mcpHandler, refusal } from './handler.ts';

/** The used part of a request of `firebase-functions`. */
export interface McpFunctionRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Absent where there is no body. */
  readonly rawBody?: Uint8Array | undefined;
}

/** The used part of Express's response. */
export interface McpFunctionResponse {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body: string): unknown;
}

/** Methods that a web-standard request cannot have. */
const REFUSED: readonly string[] = ['CONNECT', 'TRACE', 'TRACK'];
const WITHOUT_BODY: readonly string[] = ['GET', 'HEAD'];
/** Only the path is read. */
const ORIGIN = 'http://functions.invalid';

/** For `onRequest` of `firebase-functions/https`. */
export function mcpFunction(
  options: HandlerOptions,
): (request: McpFunctionRequest, response: McpFunctionResponse) => Promise<void> {
  const handle = mcpHandler(options);
  const answered = async (incoming: McpFunctionRequest) => {
    if (REFUSED.includes(incoming.method))
      return refusal(405, 'METHOD_NOT_ALLOWED', `${incoming.method} is not served`, 'Send a POST.');
    const headers = new Headers();
    for (const [name, value] of Object.entries(incoming.headers))
      for (const one of [value ?? []].flat()) headers.append(name, one);
    const { method, rawBody } = incoming;
    const request = new Request(`${ORIGIN}${incoming.url.replace(/^\/+/, '/')}`, {
      method,
      headers,
      ...(WITHOUT_BODY.includes(method) || !rawBody ? {} : { body: new Uint8Array(rawBody) }),
    });
    return handle(request);
  };
  return async (incoming, response) => {
    const answer = await answered(incoming);
    const text = await answer.text();
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(text);
  };
}
