/**
 * Request rules shared by front and worker: the path of a function and the largest body. Separate from the servers, so that the front
 * does not load Express (5 MB, 40 ms).
 */

/** Cloud Functions' own limit for a request body (second generation, not streamed). */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** `/{name}/{rest}?query` → the name and `/{rest}?query`. */
export function splitPath(url: string): { readonly name: string; readonly rest: string } {
  const [, name = '', rest = ''] = /^\/([^/?]*)(.*)$/s.exec(url) ?? [];
  return { name, rest: rest.startsWith('/') ? rest : `/${rest}` };
}
