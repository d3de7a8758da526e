/** Makes the URL of a call, which must be below the URL of the instance's receiver. */
import { NotApplied } from 'cairn';

/**
 * @param base the parameter `CALL_TARGET_URL`
 * @param path begins with `/`; may have a query
 * @throws NotApplied if the parameter is not a URL, or the path leads out of it
 */
export function callUrl(base: string, path: string): URL {
  const root = URL.parse(base);
  const isAddress =
    root !== null &&
    /^https?:$/.test(root.protocol) &&
    `${root.username}${root.password}${root.search}${root.hash}` === '';
  // The text is left out: it may carry a secret.
  if (!isAddress)
    throw new NotApplied(
      'CALL_TARGET_URL must be an http or https URL without user, query and fragment; correct it, then resume the run',
      { final: true },
    );
  const folder = root.pathname.replace(/\/+$/, '');
  const url = URL.parse(`${root.origin}${folder}${path}`);
  if (url === null || url.origin !== root.origin || !url.pathname.startsWith(`${folder}/`))
    throw new NotApplied(`the path '${path}' leads out of CALL_TARGET_URL`, { final: true });
  return url;
}
