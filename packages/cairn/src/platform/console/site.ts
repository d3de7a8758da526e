/**
 * Serves the console from the function `api` in place of Firebase Hosting: the same files, pages and headers. Loaded by the
 * first request for it, without any module of the engine.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request as FunctionRequest } from 'firebase-functions/https';
import { methodNotAllowed, problemResponse } from '../../http/problem.ts';
import { exchange, type FunctionResponse } from '../http.ts';
import { platformLog } from '../log.ts';
import { consoleFolder } from './location.ts';

/** The used part of `hosting` in `firebase.json`. */
interface Hosting {
  readonly rewrites: readonly { readonly source: string; readonly destination: string }[];
  readonly headers: readonly {
    readonly source: string;
    readonly headers: readonly { readonly key: string; readonly value: string }[];
  }[];
}

interface File {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly etag: string;
  readonly gzipEtag: string;
  /** Created for the first client that accepts compression. */
  gzipped?: Promise<Uint8Array<ArrayBuffer>>;
}

type SiteHandler = (request: Request) => Promise<Response>;

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};
/** Value of `Strict-Transport-Security` that Hosting sends with every response. */
const TRANSPORT = 'max-age=31556926; includeSubDomains; preload';
const MISSING_PAGE = '/404.html';
/** Compressing a smaller response gains nothing. */
const COMPRESSED_BYTES = 1_024;
/** `gzip` in an `Accept-Encoding`, unless its weight is 0. */
const GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/;

const compress = promisify(gzip);
let site: SiteHandler | undefined;

export async function answerConsole(request: FunctionRequest, response: FunctionResponse): Promise<void> {
  site ??= consoleSite(consoleFolder());
  await exchange({ request, response, log: platformLog }, site);
}

/** @param folder the folder with `hosting.json` and `dist` */
export function consoleSite(folder: string): SiteHandler {
  const { rewrites, headers } = JSON.parse(readFileSync(join(folder, 'hosting.json'), 'utf8')) as Hosting;
  const files = filesIn(join(folder, 'dist'));
  const headersOf = (path: string) => {
    const all = new Headers({ 'strict-transport-security': TRANSPORT });
    // Here a rule for all paths except the API applies to every path.
    for (const rule of headers.filter(({ source }) => source.startsWith('!') || isAt(path, source)))
      for (const { key, value } of rule.headers) all.set(key, value);
    return all;
  };
  return async (request) => {
    const { method, url } = request;
    if (method !== 'GET' && method !== 'HEAD')
      return problemResponse(methodNotAllowed(method, ['GET', 'HEAD']), platformLog);
    const path = new URL(url).pathname;
    const page = rewrites.find(({ source }) => isAt(path, source))?.destination;
    const found = files.get(path) ?? (page === undefined ? undefined : files.get(page));
    const file = found ?? files.get(MISSING_PAGE);
    return file === undefined
      ? new Response('', { status: 404, headers: headersOf(path) })
      : sent(file, { request, status: found === undefined ? 404 : 200, headers: headersOf(path) });
  };
}

interface SiteResponse {
  readonly request: Request;
  readonly status: number;
  readonly headers: Headers;
}

async function sent(file: File, { request, status, headers }: SiteResponse): Promise<Response> {
  headers.set('content-type', file.type);
  headers.set('vary', 'accept-encoding');
  const takesGzip = GZIP.test(request.headers.get('accept-encoding') ?? '');
  const isCompressed = takesGzip && file.bytes.length >= COMPRESSED_BYTES;
  // A strong validator names bytes, which differ (RFC 9110, section 8.8.3.3).
  const etag = isCompressed ? file.gzipEtag : file.etag;
  headers.set('etag', etag);
  if (status === 200 && isKnown(etag, request.headers.get('if-none-match')))
    return new Response(null, { status: 304, headers });
  if (!isCompressed) return new Response(file.bytes, { status, headers });
  headers.set('content-encoding', 'gzip');
  file.gzipped ??= compress(file.bytes).then((bytes) => new Uint8Array(bytes));
  return new Response(await file.gzipped, { status, headers });
}

/** Compares weakly, because a proxy that compresses weakens the validator. */
function isKnown(etag: string, ifNoneMatch: string | null): boolean {
  const known = ifNoneMatch?.split(',').map((one) => one.trim().replace(/^W\//, '')) ?? [];
  return known.includes(etag) || known.includes('*');
}

/** Files by path. As on Hosting, files whose names begin with a dot are not served. */
function filesIn(root: string): Map<string, File> {
  const names = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ parentPath, name }) => join(parentPath, name));
  return new Map(
    names.map((name): [string, File] => {
      const bytes = new Uint8Array(readFileSync(name));
      const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 27);
      const type = TYPES[extname(name)] ?? 'application/octet-stream';
      return [
        `/${relative(root, name).split(sep).join('/')}`,
        { bytes, type, etag: `"${hash}"`, gzipEtag: `"${hash}-gzip"` },
      ];
    }),
  );
}

/** Supports the two forms that the console's rules use: a path, and all paths below one. */
function isAt(path: string, source: string): boolean {
  return source.endsWith('/**') ? path.startsWith(source.slice(0, -2)) : path === source;
}
