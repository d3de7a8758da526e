/**
 * `GET /v1/runs/{id}/checkpoints/{seq}/output`: one recorded output of any size. Lists and runs show large outputs by the seq
 * of their checkpoint only.
 */
import { CairnError } from '../../core/errors.ts';
import { originsOf, originText } from '../../engine/stored-text.ts';
import { TextResponse } from '../../http/buffered.ts';
import { type ReadHandler, turnOf } from '../route.ts';
import { ownRun } from './own-run.ts';

/** At most ten digits, as journals have. */
const SEQ = /^[1-9]\d{0,9}$/;

/** Larger outputs are queued. */
const LARGE_BYTES = 1024 * 1024;

export const readOutput: ReadHandler<'GET /v1/runs/{id}/checkpoints/{seq}/output'> = async (call) => {
  const { deps, instance, params } = call;
  const { store } = deps;
  const { id: runId, seq } = params;
  await ownRun(call);
  const checkpoint = SEQ.test(seq) ? await store.findCheckpoint(runId, Number(seq)) : undefined;
  if (!checkpoint) throw new CairnError('NOT_FOUND', 'the run has no such checkpoint');
  if ((checkpoint.outputText ?? checkpoint.outputRef ?? checkpoint.outputFrom) === undefined) {
    throw new CairnError('NOT_FOUND', 'the checkpoint has no output');
  }
  const [origin] = await originsOf(store, runId, [checkpoint]);
  if (!origin) throw new CairnError('NOT_FOUND', 'the checkpoint has no output');
  const { outputRef } = origin.checkpoint;
  const read = async () => {
    // The text is canonical JSON already.
    const text = await originText(store, origin);
    return new TextResponse(text, { headers: { 'content-type': 'application/json' } });
  };
  return outputRef && outputRef.bytes > LARGE_BYTES ? instance.reads.run(turnOf(call), read) : read();
};
