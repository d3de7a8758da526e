/** Returns the request that a block of shell commands sends by curl. */
import { spawnSync } from 'node:child_process';

/** @param block its last command is `curl -s URL -d BODY`, with a `-H` for each header */
export function curlRequest(block: string, variables: Readonly<Record<string, string>>): Request {
  // Replaces curl by a function that prints its arguments.
  const script = `curl() { for each in "$@"; do echo "$each"; done; }\n${block}`;
  const env = { ...process.env, ...variables };
  const { stdout } = spawnSync('sh', ['-c', script], { env, encoding: 'utf8' });
  const [, url = '', , body = '', ...rest] = stdout.trim().split('\n');
  const named = rest.filter((each) => each !== '-H').map((each) => each.split(': ') as [string, string]);
  const headers = new Headers([['content-type', 'application/x-www-form-urlencoded']]);
  for (const [name, value] of named) headers.set(name, value);
  return new Request(url, { method: 'POST', body, headers });
}
