/** The option `--limit` of commands that list, and their note about further entries. */
import type { CommandContext } from '../context.ts';
import { clean } from '../render/width.ts';

/** Default of `--limit`. */
export const DEFAULT_LISTED = 100;

interface Limit {
  readonly most: number;
  readonly usual?: number;
  readonly what?: string;
}

export function limitOption({ most, usual = DEFAULT_LISTED, what = 'how many' }: Limit) {
  return { type: 'number', value: 'N', range: [1, most], help: `${what} (default ${usual})` } as const;
}

/** Prints a note if the list was cut. The output of `--json` says it itself. */
export function noteMore({ out, notes }: Pick<CommandContext, 'out' | 'notes'>, more: boolean): void {
  if (more && !out.json) notes.print(notes.style.dim('More exist: --limit N\n'));
}

/** Prints which entries could not be read, and the command that shows the reason. */
export function noteUnreadable(
  { out, notes }: Pick<CommandContext, 'out' | 'notes'>,
  unreadable: readonly string[] = [],
  help: (id: string) => string = (id) => `${notes.call} check ${id}`,
): void {
  if (out.json) return;
  for (const id of unreadable)
    notes.print(`${notes.style.paint('bad', 'unreadable')} ${clean(id)}: ${help(clean(id))}\n`);
}
