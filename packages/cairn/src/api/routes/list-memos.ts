/** `GET /v1/runs/{id}/memos?step=`: what the body of a step has memoised, by name. */
import { listMemos as listOf } from '../../operations/list-memos.ts';
import type { ReadHandler } from '../route.ts';
import { iso } from '../views/values.ts';
import { ownRun } from './own-run.ts';

export const listMemos: ReadHandler<'GET /v1/runs/{id}/memos'> = async (call) => {
  const { step, revision, undoes, ...page } = call.query;
  const found = await listOf(call.deps.store, await ownRun(call), { step, revision, undoes, page });
  const { items, revision: shown, ...more } = found;
  const of = { step, revision: shown, undoes: undoes || undefined };
  return {
    items: items.map(({ recordedAt, ...memo }) => ({ ...of, ...memo, recordedAt: iso(recordedAt) })),
    ...more,
  };
};
