/** Converts the `curl` commands of a document to requests. */
import { shellBlocksOf } from './snippets.ts';

/** Every command that begins a line of a code block, up to the end of the block, an empty line or the next command. */
export function commandsOf(document: string): string[] {
  return shellBlocksOf(document).flatMap(
    (code) => code.match(/^curl [\s\S]*?(?=^curl |\n\n|$(?![\s\S]))/gm) ?? [],
  );
}

/** @param key replaces `$KEY` */
export function requestOf(command: string, key: string): Request {
  const [, path = ''] = /\$URL([^\s"]+)/.exec(command) ?? [];
  const [, body] = /-d '([^']*)'/.exec(command) ?? [];
  const [, method = body === undefined ? 'GET' : 'POST'] = /-X (\S+)/.exec(command) ?? [];
  const headers = [...command.matchAll(/-H "([^:]+): ([^"]+)"/g)].map(
    ([, name = '', value = '']): [string, string] => [name, value.replace('$KEY', key)],
  );
  return new Request(`http://cairn.test${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
}
