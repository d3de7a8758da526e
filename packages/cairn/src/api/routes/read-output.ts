/**
 * `GET /v1/runs/{id}/checkpoints/{seq}/output`: one output as it was recorded, however large. The only way to those that
 * lie in payloads, which lists and runs name by the seq of their checkpoint.
 */
import { CairnError } from '../../core/errors.ts';
import { originsOf, originText } from '../../engine/stored-text.ts';
import type { Caller } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';
import { readQuery } from '../query.ts';
import type { Turnstile } from '../turnstile.ts';
import { ownRun, type RunAddress } from './read-runs.ts';

/** At most ten digits, as journals have. */
const SEQ = /^[1-9]\d{0,9}$/;

/** A larger one waits for its turn. */
const LARGE_BYTES = 1024 * 1024;

export interface OutputAddress extends RunAddress {
  readonly seq: string;
  /** Of this instance: where reads of large values wait for each other. */
  readonly large: Turnstile;
}

export async function readOutput(
  { start }: ApiDeps,
  caller: Caller,
  { runId, url, seq, large }: OutputAddress,
): Promise<Response> {
  readQuery(url, []);
  await ownRun(start.store, caller, runId);
  const checkpoint = SEQ.test(seq) ? await start.store.findCheckpoint(runId, Number(seq)) : undefined;
  if (!checkpoint) throw new CairnError('NOT_FOUND', 'the run has no such checkpoint');
  if ((checkpoint.outputText ?? checkpoint.outputRef ?? checkpoint.outputFrom) === undefined) {
    throw new CairnError('NOT_FOUND', 'the checkpoint has no output');
  }
  const [origin] = await originsOf(start.store, runId, [checkpoint]);
  if (!origin) throw new CairnError('NOT_FOUND', 'the checkpoint has no output');
  const { outputRef } = origin.checkpoint;
  const read = async () => {
    // It is canonical JSON already.
    const text = await originText(start.store, origin);
    return new Response(text, { headers: { 'content-type': 'application/json' } });
  };
  return outputRef && outputRef.bytes > LARGE_BYTES ? large.pass(read) : read();
}
