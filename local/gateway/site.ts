/**
 * What Firebase Hosting serves beside functions: the files of `hosting.public`, the pages that rewrites lead to, and the
 * headers of `firebase.json`. Knows nothing of what is in the files.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, join, resolve, sep } from 'node:path';
import sirv from 'sirv';
import { matchesSource, sitesOf } from './rewrites.ts';

export interface Site {
  /** False if it is no file of the site; then nothing was answered. */
  serve(path: string, request: IncomingMessage, response: ServerResponse): boolean;
}

/** Of the first site. Undefined if its folder was never built. */
export function readSite(firebaseJson: string): Site | undefined {
  const [{ public: folder, rewrites = [], headers = [] } = {}] = sitesOf(firebaseJson);
  if (folder === undefined) return undefined;
  const root = resolve(dirname(firebaseJson), folder);
  if (!existsSync(join(root, 'index.html'))) return undefined;
  // Found anew on each request: who works on the console builds it while this runs.
  const files = sirv(root, { dev: true, etag: true });
  const pages = rewrites.flatMap(({ source, destination }) =>
    source !== undefined && destination !== undefined ? [{ source, destination }] : [],
  );
  return {
    serve(path, request, response) {
      if (request.method !== 'GET' && request.method !== 'HEAD') return false;
      const page = pages.find(({ source }) => matchesSource(path, source))?.destination;
      const isFile = isFileOf(root, path);
      if (!isFile && page === undefined) return false;
      for (const { source, headers: some } of headers) {
        if (!matchesSource(path, source)) continue;
        for (const { key, value } of some) response.setHeader(key, value);
      }
      if (!isFile && page !== undefined) sendPage(join(root, page), response, request.method);
      // The file may be gone since: a build empties the folder.
      else
        files(request, response, () => {
          response.writeHead(404).end();
        });
      return true;
    },
  };
}

/**
 * Files whose names begin with a dot are none of the site: Hosting does not take them, and no `**` of its headers is about
 * them. That also keeps `..` inside the folder.
 */
function isFileOf(root: string, path: string): boolean {
  const place = join(root, path);
  if (!place.startsWith(`${root}${sep}`) || path.split('/').some((name) => name.startsWith('.')))
    return false;
  return existsSync(place) && statSync(place, { throwIfNoEntry: false })?.isFile() === true;
}

function sendPage(file: string, response: ServerResponse, method: string): void {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end(method === 'HEAD' ? undefined : readFileSync(file));
}
