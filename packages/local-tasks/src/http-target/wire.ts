/** Converts `http_target` of a queue between the messages of the beta versions and the model. Owns its rules. Pure. */
import { invalid } from '../errors.ts';
import { HTTP_METHODS } from '../model.ts';
import { requireHeaders } from '../target.ts';
import { type HeaderOverride, type HttpTarget, URI_SCHEMES, type UriOverride } from './model.ts';

export interface WireHttpTarget {
  readonly uriOverride?: WireUriOverride | null;
  readonly httpMethod?: number | null;
  readonly headerOverrides?:
    | readonly { readonly header?: { readonly key?: string; readonly value?: string } | null }[]
    | null;
  readonly oauthToken?: { serviceAccountEmail?: string | null; scope?: string | null } | null;
  readonly oidcToken?: { serviceAccountEmail?: string | null; audience?: string | null } | null;
}

interface WireUriOverride {
  readonly scheme?: number | null;
  readonly host?: string | null;
  readonly port?: number | { toNumber(): number } | null;
  readonly pathOverride?: { readonly path?: string | null } | null;
  readonly queryOverride?: { readonly queryParams?: string | null } | null;
  readonly uriOverrideEnforceMode?: number | null;
}

const IF_NOT_EXISTS = 1;
const ALWAYS = 2;
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})|\[[0-9a-fA-F:.]{2,45}\])$/;
const MAX_PORT = 65_535;

/** @throws GrpcRefusal INVALID_ARGUMENT */
export function httpTargetFrom(wire: WireHttpTarget): HttpTarget {
  const method = HTTP_METHODS[wire.httpMethod ?? 0];
  if (method === undefined && wire.httpMethod)
    throw invalid(`HttpTarget.http_method ${wire.httpMethod} is unknown.`);
  const { oidcToken, oauthToken, uriOverride } = wire;
  return {
    ...(uriOverride && { uri: uriFrom(uriOverride) }),
    ...(method && { method }),
    headers: headersFrom(wire.headerOverrides ?? []),
    ...(oidcToken && {
      oidc: {
        serviceAccountEmail: required(oidcToken.serviceAccountEmail, 'oidc_token.service_account_email'),
        audience: required(oidcToken.audience, 'oidc_token.audience'),
      },
    }),
    ...(oauthToken && {
      oauth: {
        serviceAccountEmail: required(oauthToken.serviceAccountEmail, 'oauth_token.service_account_email'),
        scope: required(oauthToken.scope, 'oauth_token.scope'),
      },
    }),
  };
}

export function toWireHttpTarget({ uri, method, headers, oidc, oauth }: HttpTarget): object {
  return {
    ...(uri && { uriOverride: toWireUri(uri) }),
    httpMethod: HTTP_METHODS.indexOf(method),
    headerOverrides: headers.map((header) => ({ header })),
    ...(oidc && { oidcToken: oidc }),
    ...(oauth && { oauthToken: oauth }),
  };
}

function uriFrom(wire: WireUriOverride): UriOverride {
  // The spread drops members that were not sent: they are defaults on the prototype of the decoded message.
  const { scheme, host, port, pathOverride, queryOverride }: WireUriOverride = { ...wire };
  const named = scheme === null || scheme === undefined ? undefined : URI_SCHEMES[scheme];
  if (named === undefined && scheme) throw invalid(`UriOverride.scheme ${scheme} is unknown.`);
  if (typeof host === 'string' && !isHost(host))
    throw invalid('UriOverride.host must be the name or the address of a host.');
  return {
    ...(named && { scheme: named }),
    ...(typeof host === 'string' && { host }),
    ...portFrom(port),
    ...(pathOverride && { path: pathOverride.path ?? '' }),
    ...(queryOverride && { query: queryOverride.queryParams ?? '' }),
    isFallback: wire.uriOverrideEnforceMode === IF_NOT_EXISTS,
  };
}

/** Accepts no spellings that `URL` rewrites, such as `1.2` and `0x7f`, except for IPv6. */
function isHost(host: string): boolean {
  const url = `http://${host}`;
  if (!HOST.test(host) || !URL.canParse(url)) return false;
  return host.startsWith('[') || new URL(url).hostname === host.toLowerCase();
}

function portFrom(wire: WireUriOverride['port']): { readonly port?: number } {
  if (wire === null || wire === undefined) return {};
  const port = typeof wire === 'number' ? wire : wire.toNumber();
  if (port < 0 || port > MAX_PORT) throw invalid(`UriOverride.port must be in [0, ${MAX_PORT}].`);
  return { port };
}

function toWireUri({ scheme, host, port, path, query, isFallback }: UriOverride): object {
  return {
    ...(scheme && { scheme: URI_SCHEMES.indexOf(scheme) }),
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(path !== undefined && { pathOverride: { path } }),
    ...(query !== undefined && { queryOverride: { queryParams: query } }),
    uriOverrideEnforceMode: isFallback ? IF_NOT_EXISTS : ALWAYS,
  };
}

function headersFrom(wire: NonNullable<WireHttpTarget['headerOverrides']>): readonly HeaderOverride[] {
  const headers = wire.map(({ header }) => ({ key: header?.key ?? '', value: header?.value ?? '' }));
  requireHeaders(
    headers.map(({ key, value }) => [key, value]),
    'HttpTarget.header_overrides',
  );
  return headers;
}

function required(text: string | null | undefined, field: string): string {
  if (!text) throw invalid(`HttpTarget.${field} must be set.`);
  return text;
}
