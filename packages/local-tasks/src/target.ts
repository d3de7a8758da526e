/** Validates the target of a task: a URL or an App Engine app. Pure. */
import { failedPrecondition, invalid } from './errors.ts';
import {
  APP_ENGINE_METHODS_WITH_BODY,
  type AppEngineRouting,
  HTTP_METHODS,
  LIMITS,
  METHODS_WITH_BODY,
  type TaskTarget,
} from './model.ts';

export interface WireRouting {
  readonly service?: string | null;
  readonly version?: string | null;
  readonly instance?: string | null;
}

interface WireRequest {
  readonly httpMethod?: number | null;
  readonly headers?: Record<string, string> | null;
  readonly body?: Uint8Array | null;
}

export interface WireTarget {
  readonly appEngineHttpRequest?:
    | (WireRequest & {
        readonly relativeUri?: string | null;
        readonly appEngineRouting?: WireRouting | null;
      })
    | null;
  readonly httpRequest?:
    | (WireRequest & {
        readonly url?: string | null;
        readonly oauthToken?: { serviceAccountEmail?: string | null; scope?: string | null } | null;
        readonly oidcToken?: { serviceAccountEmail?: string | null; audience?: string | null } | null;
      })
    | null;
}

const WITH_BODY = { HttpRequest: METHODS_WITH_BODY, AppEngineHttpRequest: APP_ENGINE_METHODS_WITH_BODY };
type RequestName = keyof typeof WITH_BODY;
/** User agent of requests to URLs. */
export const HTTP_AGENT = 'Google-Cloud-Tasks';
const APP_ENGINE_AGENT = 'AppEngine-Google; (+http://code.google.com/appengine)';
const DEFAULT_SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/** @throws GrpcRefusal INVALID_ARGUMENT, or FAILED_PRECONDITION if there is no app */
export function targetFrom({ appEngineHttpRequest, httpRequest }: WireTarget, hasApp: boolean): TaskTarget {
  if (httpRequest) return httpTarget(httpRequest);
  if (!appEngineHttpRequest)
    throw invalid('Task.payload_type must be set: one of app_engine_http_request, http_request.');
  if (!hasApp) {
    throw failedPrecondition(
      'There is no App Engine app: to send tasks to one, start a server of its own with its address (local-tasks --app-engine URL).',
    );
  }
  return appEngineTarget(appEngineHttpRequest);
}

export function routingFrom({ service, version, instance }: WireRouting): AppEngineRouting {
  return {
    ...(service && { service }),
    ...(version && { version }),
    ...(instance && { instance }),
  };
}

/** Adds the user agent of Cloud Tasks, which its responses have too. */
function httpTarget(http: NonNullable<WireTarget['httpRequest']>): TaskTarget {
  const url = http.url ?? '';
  if (!url) throw invalid('HttpRequest.url is required.');
  if (!/^https?:\/\//.test(url)) throw invalid("HttpTarget.url must start with 'http://' or 'https://'.");
  if (!URL.canParse(url)) throw invalid('HttpRequest.url is not a valid URL.');
  if (new URL(url).href.length > LIMITS.urlLength)
    throw invalid(`HttpRequest.url is longer than ${LIMITS.urlLength} characters after encoding.`);
  const request = requestFrom(http, 'HttpRequest');
  const headers = { ...without(request.headers, /^user-agent$/i), 'User-Agent': HTTP_AGENT };
  const target = { url, ...request, headers };
  requireSize(target, LIMITS.taskBytes);
  const { oidcToken, oauthToken } = http;
  return {
    ...target,
    ...(oidcToken && {
      oidc: { ...accountOf(oidcToken, 'oidc_token'), audience: oidcToken.audience || url },
    }),
    ...(oauthToken && {
      oauth: { ...accountOf(oauthToken, 'oauth_token'), scope: oauthToken.scope || DEFAULT_SCOPE },
    }),
  };
}

function accountOf(token: { serviceAccountEmail?: string | null }, field: string) {
  if (!token.serviceAccountEmail) throw invalid(`HttpRequest.${field}.service_account_email must be set.`);
  return { serviceAccountEmail: String(token.serviceAccountEmail) };
}

/** Adds the headers of Cloud Tasks, which its responses have too. */
function appEngineTarget(request: NonNullable<WireTarget['appEngineHttpRequest']>): TaskTarget {
  const url = request.relativeUri || '/';
  if (!url.startsWith('/') || /[\s\p{Cc}]/u.test(url) || !URL.canParse(url, 'http://app'))
    throw invalid("AppEngineHttpRequest.relative_uri must begin with '/' and be a valid relative URI.");
  if (url.length > LIMITS.urlLength)
    throw invalid(`AppEngineHttpRequest.relative_uri is longer than ${LIMITS.urlLength} characters.`);
  const { method, headers, body } = requestFrom(request, 'AppEngineHttpRequest');
  const names = Object.keys(headers);
  const agents = names.filter((name) => /^user-agent$/i.test(name));
  const hasType = names.some((name) => /^content-type$/i.test(name));
  const target = {
    url,
    method,
    body,
    headers: {
      ...without(headers, /^(?:user-agent|content-length)$/i),
      [agents[0] ?? 'User-Agent']: [...agents.map((name) => headers[name]), APP_ENGINE_AGENT]
        .filter(Boolean)
        .join(' '),
      ...(body.length > 0 && { 'Content-Length': String(body.length) }),
      ...(body.length > 0 && !hasType && { 'Content-Type': 'application/octet-stream' }),
    },
    appEngine: routingFrom(request.appEngineRouting ?? {}),
  };
  requireSize(target, LIMITS.appEngineTaskBytes);
  return target;
}

const without = (headers: Readonly<Record<string, string>>, names: RegExp) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.test(name)));

function requestFrom(
  request: WireRequest,
  name: RequestName,
): Pick<TaskTarget, 'method' | 'headers' | 'body'> {
  const method = request.httpMethod ? HTTP_METHODS[request.httpMethod] : 'POST';
  if (method === undefined) throw invalid(`${name}.http_method ${request.httpMethod} is unknown.`);
  // protobufjs gives an empty array instead of empty bytes for an absent field.
  const body = request.body?.length ? request.body : new Uint8Array();
  const methods = WITH_BODY[name];
  if (body.length > 0 && !methods.includes(method)) {
    const allowed = `${methods.slice(0, -1).join(', ')} and ${methods.at(-1)}`;
    throw invalid(`${name}.body is only allowed for ${allowed}, not for ${method}.`);
  }
  const headers = { ...request.headers };
  requireHeaders(Object.entries(headers), `${name}.headers`);
  return { method, headers, body };
}

type Header = readonly [name: string, value: string];

/** @param field name of the field with the headers. @throws GrpcRefusal INVALID_ARGUMENT */
export function requireHeaders(headers: readonly Header[], field: string): void {
  for (const [name, value] of headers) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      throw invalid(`${field}: '${name}' is not a valid header.`);
    }
  }
  if (headerBytes(headers) > LIMITS.headerBytes) throw invalid(`${field} exceed 80 KB.`);
}

function requireSize({ url, headers, body }: TaskTarget, most: number): void {
  const bytes = body.length + Buffer.byteLength(url) + headerBytes(Object.entries(headers));
  if (bytes > most) throw invalid(`Task size too large: it has ${bytes} bytes, a task may have ${most}.`);
}

function headerBytes(headers: readonly Header[]): number {
  return headers.flat().reduce((bytes, part) => bytes + Buffer.byteLength(part), 0);
}
