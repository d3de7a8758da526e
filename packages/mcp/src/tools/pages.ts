/**
 * Pages without gaps: if an answer does not fit, a smaller page is requested, so that `next` continues after the last shown item.
 */
import type { ToolResponse } from '../answer.ts';
import { isComplete, MAX_SAID_CHARS } from '../bounded.ts';

/** Requests a smaller page if the requested one does not fit. */
export async function completePage(
  limit: number,
  read: (size: number) => Promise<ToolResponse>,
): Promise<ToolResponse> {
  for (let size = limit; ; size >>= 1) {
    const page = await read(size);
    if (size === 1 || (page.text.length <= MAX_SAID_CHARS && isComplete(page.data))) return page;
  }
}

export function counted(count: number, noun: string, next: string | undefined): string {
  const more = next === undefined ? '' : '; more with cursor';
  return `${count} ${noun}${count === 1 ? '' : 's'}${more}`;
}
