/** Selection of stored lines for a reader. Pure. */
import { stepIdOf } from '../run/state.ts';
import { KEPT_LEVELS, type KeptLevel } from './line.ts';
import { isLogLine, isTextLine, type StoredLine } from './text.ts';

/** Lines that bodies log, or text that they stream. */
export const LINE_SORTS = ['log', 'text'] as const;
export type LineSort = (typeof LINE_SORTS)[number];

export interface LogFilter {
  /** Key of a step; an id includes its items. */
  readonly step?: string | undefined;
  /** Lines of lower levels are skipped. Streamed text counts as `info`. */
  readonly level?: KeptLevel | undefined;
}

/** False for kinds of lines that this version does not know. */
export function isWanted(line: StoredLine, { step, level }: LogFilter, sort?: LineSort): boolean {
  if (!(sort !== 'text' && isLogLine(line)) && !(sort !== 'log' && isTextLine(line))) return false;
  if (step !== undefined && line.step !== step && stepIdOf(line.step) !== step) return false;
  const own: KeptLevel = isLogLine(line) ? line.level : 'info';
  return level === undefined || KEPT_LEVELS.indexOf(own) >= KEPT_LEVELS.indexOf(level);
}
