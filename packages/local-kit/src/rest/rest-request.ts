/**
 * A request of REST as a client means it: with a POST in place of another method (`X-HTTP-Method-Override`), which clients send when
 * the address would be too long or a proxy lets no other method through.
 */
import type { IncomingMessage } from 'node:http';
import { type BodyRefusals, jsonBody, textBody } from '../http/json-body.ts';
import type { RestRequest } from './routes.ts';

/** @throws the errors of `refusals` */
export async function restRequest(
  request: IncomingMessage,
  { pathname: path, searchParams }: URL,
  refusals: BodyRefusals,
): Promise<RestRequest> {
  const { method = 'GET', headers } = request;
  const override = method === 'POST' ? [headers['x-http-method-override']].flat()[0] : undefined;
  if (override === undefined)
    return { method, path, query: searchParams, body: await jsonBody(request, refusals) };
  const asked = { method: override.toUpperCase(), path };
  if (!headers['content-type']?.startsWith('application/x-www-form-urlencoded'))
    return { ...asked, query: searchParams, body: await jsonBody(request, refusals) };
  const parameters = new URLSearchParams(await textBody(request, refusals));
  return { ...asked, query: new URLSearchParams([...searchParams, ...parameters]), body: undefined };
}
