/** A change of many runs as a loop of a POSIX shell. Pure. The key of the API is named, never shown. */
import { option, quoted } from '../../../parts/command-text.ts';
import type { BulkMode } from './plan.ts';

export interface Loop {
  readonly mode: BulkMode;
  readonly ids: readonly string[];
  /** Why, of a cancel. */
  readonly reason?: string | undefined;
}

export function bodyOf({ mode, reason }: Pick<Loop, 'mode' | 'reason'>): { readonly reason?: string } {
  return mode === 'cancel' && reason !== undefined ? { reason } : {};
}

/** @param batch names the loop, so that running it once more repeats nothing */
export function curlLoop(loop: Loop, origin: string, batch: string): string {
  return [
    begin(loop.ids),
    `  curl -s ${quoted(origin)}"/v1/runs/$run/${loop.mode}" \\`,
    `    -H "Authorization: Bearer $CAIRN_API_KEY" \\`,
    `    -H "Idempotency-Key: ${batch}-$run" \\`,
    `    -H 'Content-Type: application/json' -d ${quoted(JSON.stringify(bodyOf(loop)))}`,
    'done',
  ].join('\n');
}

export function cliLoop({ mode, ids, reason }: Loop): string {
  const why = mode === 'cancel' && reason !== undefined ? option('reason', reason) : [];
  const words = ['runs', mode, '"$run"', ...why.map(quoted)];
  return [begin(ids), `  npm run cairn -- ${words.join(' ')}`, 'done'].join('\n');
}

function begin(ids: readonly string[]): string {
  return `for run in ${ids.map(quoted).join(' ')}; do`;
}
