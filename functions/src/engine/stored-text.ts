/** Reads the values of a run, wherever each is kept: in the snapshot, in a checkpoint, or as a payload. */
import type { StoredValue } from '../core/run/events.ts';
import type { Checkpoint } from '../core/run/records.ts';
import type { RunStore } from '../ports/run-store.ts';

/** Canonical JSON text of what the checkpoint carries or points to. @throws Error if it carries nothing */
export async function checkpointText(
  store: RunStore,
  runId: string,
  { seq, outputText, outputRef }: Pick<Checkpoint, 'seq' | 'outputText' | 'outputRef'>,
): Promise<string> {
  if (outputText !== undefined) return outputText;
  if (outputRef === undefined) throw new Error(`run ${runId}: checkpoint ${seq} carries no value`);
  return store.readPayload(runId, outputRef);
}

/** Canonical JSON text of an input or a result. */
export async function storedText(store: RunStore, runId: string, value: StoredValue): Promise<string> {
  if ('text' in value) return value.text;
  const [checkpoint] = await store.readCheckpoints(runId, [value.checkpoint]);
  if (!checkpoint) throw new Error(`run ${runId} has no checkpoint ${value.checkpoint}`);
  return checkpointText(store, runId, checkpoint);
}
