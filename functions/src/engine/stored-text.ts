/** Finds and reads the values of a run, wherever each is kept: in the snapshot, in a checkpoint, or as a payload. */
import type { PayloadRef, StoredValue } from '../core/run/events.ts';
import type { Checkpoint } from '../core/run/records.ts';
import type { RunStore } from '../ports/run-store.ts';

/** A value at hand as canonical JSON, or where it lies if it is too large to come along. */
export type Located = { readonly text: string } | { readonly checkpoint: number; readonly ref: PayloadRef };

/** What is needed of a checkpoint to get at its value. */
export type Carrier = Pick<Checkpoint, 'seq' | 'outputText' | 'outputRef'>;

/** Canonical JSON text of what the checkpoint carries or points to. @throws Error if it carries nothing */
export function checkpointText(store: RunStore, runId: string, checkpoint: Carrier): Promise<string> {
  return fetched(store, runId, carriedBy(runId, checkpoint));
}

/** Canonical JSON text of an input or a result. */
export async function storedText(store: RunStore, runId: string, value: StoredValue): Promise<string> {
  return fetched(store, runId, await located(store, runId, value));
}

/** An input or a result, as far as it is at hand without reading a payload. */
export async function located(store: RunStore, runId: string, value: StoredValue): Promise<Located> {
  if ('text' in value) return value;
  const [checkpoint] = await store.readCheckpoints(runId, [value.checkpoint]);
  if (!checkpoint) throw new Error(`run ${runId} has no checkpoint ${value.checkpoint}`);
  return carriedBy(runId, checkpoint);
}

function carriedBy(runId: string, { seq, outputText, outputRef }: Carrier): Located {
  if (outputText !== undefined) return { text: outputText };
  if (outputRef === undefined) throw new Error(`run ${runId}: checkpoint ${seq} carries no value`);
  return { checkpoint: seq, ref: outputRef };
}

async function fetched(store: RunStore, runId: string, value: Located): Promise<string> {
  return 'text' in value ? value.text : store.readPayload(runId, value.ref);
}
