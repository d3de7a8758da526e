/**
 * Static part of Firebase Hosting: the files of `hosting.public`, the pages of rewrites, and the headers of
 * `firebase.json`. Does not interpret files.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, join, resolve, sep } from 'node:path';
import sirv from 'sirv';
import { type HostingConfig, sitesOf, sourceMatcher } from './rewrites.ts';

export interface Site {
  /** True for a file of the site, which comes before rewrites. */
  has(path: string): boolean;
  /** False if the site has no such file; then nothing was sent. */
  serve(path: string, request: IncomingMessage, response: ServerResponse): boolean;
  /** Responds with the site's page for missing paths. Returns false if it has none, without a response. */
  miss(path: string, request: IncomingMessage, response: ServerResponse): boolean;
}

/** Hosting serves this file of the site, if there is one, wherever nothing else is. */
const MISSING_PAGE = '404.html';

/** The first site. Undefined if its folder was never built. */
export function readSite(firebaseJson: string): Site | undefined {
  const [config = {}] = sitesOf(firebaseJson);
  const { public: folder } = config;
  return folder === undefined ? undefined : siteOf(resolve(dirname(firebaseJson), folder), config);
}

/** @param root absolute path of the folder; undefined is returned if it was never built */
export function siteOf(
  root: string,
  { rewrites = [], headers = [], cleanUrls = false }: HostingConfig,
): Site | undefined {
  if (!existsSync(root)) return undefined;
  // Checked on each request: the console may be built while this runs.
  const files = sirv(root, { dev: true, etag: true });
  const pages = rewrites.flatMap(({ source, destination }) =>
    source !== undefined && destination !== undefined
      ? [{ matches: sourceMatcher(source), destination }]
      : [],
  );
  const rules = headers.map(({ source, headers: some }) => ({ matches: sourceMatcher(source), some }));
  const setHeaders = (path: string, response: ServerResponse) => {
    for (const { matches, some } of rules) {
      if (!matches(path)) continue;
      for (const { key, value } of some) response.setHeader(key, value);
    }
  };
  const has = (path: string) =>
    isFileOf(root, path) ||
    (path.endsWith('/') && isFileOf(root, `${path}index.html`)) ||
    (cleanUrls && isFileOf(root, `${path}.html`));
  return {
    has,
    miss(path, request, response) {
      if (!isReading(request) || !existsSync(join(root, MISSING_PAGE))) return false;
      setHeaders(path, response);
      sendPage(join(root, MISSING_PAGE), response, { method: request.method, status: 404 });
      return true;
    },
    serve(path, request, response) {
      if (!isReading(request)) return false;
      const isFile = has(path);
      const page = isFile ? undefined : pages.find(({ matches }) => matches(path))?.destination;
      if (!isFile && (page === undefined || !isFileOf(root, page))) return false;
      setHeaders(path, response);
      if (!isFile && page !== undefined)
        sendPage(join(root, page), response, { method: request.method, status: 200 });
      // A build may have deleted the file since.
      else
        files(request, response, () => {
          response.writeHead(404).end();
        });
      return true;
    },
  };
}

/**
 * Files whose names begin with a dot are not served: Hosting does not upload them, and no `**` of its headers matches them.
 * That also keeps `..` inside the folder.
 */
function isFileOf(root: string, path: string): boolean {
  const place = join(root, path);
  if (!place.startsWith(`${root}${sep}`) || path.split('/').some((name) => name.startsWith('.')))
    return false;
  return existsSync(place) && statSync(place, { throwIfNoEntry: false })?.isFile() === true;
}

export function isReading({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

interface FileResponse {
  readonly method: string | undefined;
  readonly status: number;
}

function sendPage(file: string, response: ServerResponse, { method, status }: FileResponse): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' });
  response.end(method === 'HEAD' ? undefined : readFileSync(file));
}
