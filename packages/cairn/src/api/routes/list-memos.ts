/** `GET /v1/runs/{id}/memos?step=`: what the body of a step has memoised, by name. */
import { CairnError } from '../../core/errors.ts';
import { listMemos as listOf } from '../../operations/list-memos.ts';
import { booleanOf, pageRequest } from '../query.ts';
import type { ReadHandler } from '../route.ts';
import { iso } from '../views/values.ts';
import { ownRun } from './own-run.ts';

/** As many digits as a revision can have. */
const REVISION = /^[1-9]\d{0,8}$/;

export const listMemos: ReadHandler<'GET /v1/runs/{id}/memos'> = async (call) => {
  const { step, revision, undoes: undo = 'false', ...query } = call.query;
  if (step === undefined)
    throw new CairnError('INVALID_INPUT', 'the step is missing', {
      field: 'step',
      help: 'Give the id of a step, or `id[itemKey]`. GET /v1/runs/{id}/steps lists them.',
    });
  if (revision !== undefined && !REVISION.test(revision))
    throw new CairnError('INVALID_INPUT', 'the revision must be a whole number from 1', {
      field: 'revision',
    });
  const undoes = booleanOf('undoes', undo);
  const page = pageRequest(query);
  const found = await listOf(call.deps.start.store, await ownRun(call), {
    step,
    revision: revision === undefined ? undefined : Number(revision),
    undoes,
    page,
  });
  const { items, revision: shown, ...more } = found;
  const of = { step, revision: shown, undoes: undoes || undefined };
  return {
    items: items.map(({ recordedAt, ...memo }) => ({ ...of, ...memo, recordedAt: iso(recordedAt) })),
    ...more,
  };
};
