/** `GET /v1/runs/{id}/logs`, oldest first. Lines of running bodies are there within three seconds. */
import type { LogLine } from '../../core/logs/line.ts';
import { isOver } from '../../core/run/state.ts';
import { listLogs as listOf } from '../../operations/list-logs.ts';
import type { ReadHandler } from '../route.ts';
import { iso } from '../views/values.ts';
import { ownRun } from './own-run.ts';

export const listLogs: ReadHandler<'GET /v1/runs/{id}/logs'> = async (call) => {
  const { step, level, ...page } = call.query;
  const request = { filter: { step, level }, page };
  // Before its lines: those of the commit that ended it are read then.
  const { state } = await ownRun(call);
  const { items, ...more } = await listOf(call.deps.logs, state.id, request);
  return { items: items.map(lineView), ...more, ended: isOver(state) };
};

function lineView({ at, ...line }: LogLine): object {
  return { ...line, at: iso(at) };
}
