/** Actions as text for a POSIX shell. Pure. The API key appears as a variable, never as its value. */
import type { ChangeRequest } from '../api/client.ts';

export function curlText({ method, target, body }: ChangeRequest, origin: string): string {
  const parts = [`curl -s ${quoted(`${origin}${target}`)}`, `-H "Authorization: Bearer $CAIRN_API_KEY"`];
  if (method !== 'GET') {
    parts.push(
      ...(method === 'POST' ? [] : [`-X ${method}`]),
      `-H "Idempotency-Key: $(uuidgen)"`,
      `-H 'Content-Type: application/json'`,
      `-d ${quoted(JSON.stringify(body ?? {}))}`,
    );
  }
  return parts.join(' \\\n  ');
}

export function cliText(words: readonly string[]): string {
  return ['npx cairn', ...words.map(quoted)].join(' ');
}

/** Quotes a text as one word of a shell. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Option and value as words; none if the value is undefined. A value that begins with a hyphen is joined with `=`. */
export function option(name: string, value: string | undefined): readonly string[] {
  if (value === undefined) return [];
  return value.startsWith('-') ? [`--${name}=${value}`] : [`--${name}`, value];
}
