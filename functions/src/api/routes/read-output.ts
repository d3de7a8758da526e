/**
 * `GET /v1/runs/{id}/checkpoints/{seq}/output`: one output as it was recorded, however large. The only way to those that
 * lie in payloads, which lists and runs name by the seq of their checkpoint.
 */
import { CairnError } from '../../core/errors.ts';
import { checkpointText } from '../../engine/stored-text.ts';
import type { Caller } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';
import { readQuery } from '../query.ts';
import { ownRun, type RunAddress } from './read-runs.ts';

/** At most ten digits, as journals have. */
const SEQ = /^[1-9]\d{0,9}$/;

export async function readOutput(
  { start }: ApiDeps,
  caller: Caller,
  { runId, url, seq }: RunAddress & { readonly seq: string },
): Promise<Response> {
  readQuery(url, []);
  await ownRun(start.store, caller, runId);
  const checkpoint = SEQ.test(seq) ? await start.store.findCheckpoint(runId, Number(seq)) : undefined;
  if (!checkpoint) throw new CairnError('NOT_FOUND', 'the run has no such checkpoint');
  if (checkpoint.outputText === undefined && checkpoint.outputRef === undefined) {
    throw new CairnError('NOT_FOUND', 'the checkpoint carries no output');
  }
  // It is canonical JSON already.
  const text = await checkpointText(start.store, runId, checkpoint);
  return new Response(text, { headers: { 'content-type': 'application/json' } });
}
