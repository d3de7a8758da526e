/** `GET /v1/runs/{id}/consistency`: what is wrong with the documents of a run. Reads all of them, and writes nothing. */
import { checkConsistency } from '../../../operations/integrity/check.ts';
import type { Read } from '../../route.ts';
import { consistencyView } from '../../views/integrity.ts';
import { runOf } from '../own-run.ts';

export const readConsistency: Read<'GET', '/v1/runs/{id}/consistency'> = async (asked) => {
  const { start, integrity } = asked.deps;
  const reading = { ...start, reader: integrity, payloads: start.store };
  return consistencyView(await checkConsistency(reading, runOf(asked)));
};
