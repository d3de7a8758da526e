/**
 * Reads a REST request and resolves a POST in place of another method (`X-HTTP-Method-Override`), which clients send if the URL would be
 * too long or a proxy allows no other method.
 */
import type { IncomingMessage } from 'node:http';
import { type BodyRefusals, jsonBody, textBody } from '../http/json-body.ts';
import { JsonShapeError } from '../wire/proto-json.ts';
import type { RestRequest } from './routes.ts';

const FORM = 'application/x-www-form-urlencoded';
/** Methods whose calls have parameters only. */
const BODILESS = ['GET', 'DELETE'];

/** @throws the errors of `refusals`; JsonShapeError for a body that the other method cannot have */
export async function restRequest(
  request: IncomingMessage,
  { pathname: path, searchParams }: URL,
  refusals: BodyRefusals,
): Promise<RestRequest> {
  const { method = 'GET', headers } = request;
  const override = method === 'POST' ? [headers['x-http-method-override']].flat()[0] : undefined;
  if (!override) return { method, path, query: searchParams, body: await jsonBody(request, refusals) };
  const asked = { method: override.toUpperCase(), path };
  if (!headers['content-type']?.toLowerCase().startsWith(FORM)) {
    const body = await jsonBody(request, refusals);
    if (BODILESS.includes(asked.method) && !isEmpty(body))
      throw new JsonShapeError(
        `A POST in place of ${asked.method} has no JSON body: send the parameters in the address, or as a form (content type "${FORM}").`,
      );
    return { ...asked, query: searchParams, body };
  }
  const parameters = new URLSearchParams(await textBody(request, refusals));
  return { ...asked, query: new URLSearchParams([...searchParams, ...parameters]), body: undefined };
}

/** True for `{}` too, which clients that always send JSON send without parameters. */
const isEmpty = (body: unknown) => body === undefined || JSON.stringify(body) === '{}';
