/** `GET /v1/runs/{id}/logs`, oldest first. Lines of running bodies are there within three seconds. */
import { CairnError } from '../../core/errors.ts';
import { KEPT_LEVELS, type KeptLevel, type LogLine } from '../../core/logs/line.ts';
import { isOver } from '../../core/run/state.ts';
import { listLogs as listOf } from '../../operations/list-logs.ts';
import { pageRequest } from '../query.ts';
import type { ReadHandler } from '../route.ts';
import { iso } from '../views/values.ts';
import { ownRun } from './own-run.ts';

export const listLogs: ReadHandler<'GET /v1/runs/{id}/logs'> = async (call) => {
  const { step, level, ...page } = call.query;
  const filter = { step, level: level === undefined ? undefined : levelOf(level) };
  const request = { filter, page: pageRequest(page) };
  // Before its lines: those of the commit that ended it are read then.
  const { state } = await ownRun(call);
  const { items, ...more } = await listOf(call.deps.logs, state.id, request);
  return { items: items.map(lineView), ...more, ended: isOver(state) };
};

function lineView({ at, ...line }: LogLine): object {
  return { ...line, at: iso(at) };
}

/** @throws CairnError INVALID_INPUT */
export function levelOf(word: string): KeptLevel {
  const level = KEPT_LEVELS.find((one) => one === word);
  if (level) return level;
  throw new CairnError('INVALID_INPUT', `level: no line has the level "${word}"`, {
    field: 'level',
    help: `Use one of ${KEPT_LEVELS.join(', ')}. Lines of debug are only in the log of the process.`,
  });
}
