/**
 * Locates and reads the values of a run: in the snapshot, in a checkpoint, as a payload, or in the earlier run of the
 * lineage from which they were reused.
 */
import type { PayloadRef, StoredValue } from '../core/run/events.ts';
import type { Checkpoint } from '../core/run/records.ts';
import type { RunStore } from '../ports/run-store.ts';

/** A value as canonical JSON, or its location if it is too large. */
export type LocatedText =
  | { readonly text: string }
  | { readonly checkpoint: number; readonly ref: PayloadRef };

/** The part of a checkpoint needed to read its value. */
type Carrier = Pick<Checkpoint, 'seq' | 'outputText' | 'outputRef' | 'outputFrom'>;

/** A checkpoint that has its value itself, and its run. */
export interface Origin {
  readonly runId: string;
  readonly checkpoint: Carrier;
}

/** Canonical JSON text of what the checkpoint carries or points to. @throws Error if it carries nothing */
export async function checkpointText(store: RunStore, runId: string, checkpoint: Carrier): Promise<string> {
  const [origin] = await originsOf(store, runId, [checkpoint]);
  if (!origin) throw new Error(`run ${runId}: checkpoint ${checkpoint.seq} was not found`);
  return originText(store, origin);
}

/** Canonical JSON text of an input or a result. */
export async function storedText(store: RunStore, runId: string, value: StoredValue): Promise<string> {
  if ('text' in value) return value.text;
  return checkpointText(store, runId, await checkpointAt(store, runId, value.checkpoint));
}

/** An input or a result, without reading a payload. */
export async function located(store: RunStore, runId: string, value: StoredValue): Promise<LocatedText> {
  if ('text' in value) return value;
  const [origin] = await originsOf(store, runId, [await checkpointAt(store, runId, value.checkpoint)]);
  const { outputText: text, outputRef: ref } = origin?.checkpoint ?? {};
  if (text !== undefined) return { text };
  if (ref === undefined) throw carriesNothing(runId, value.checkpoint);
  return { checkpoint: value.checkpoint, ref };
}

/**
 * For each checkpoint, in order, the one that stores the value: itself, or the one of an earlier run that it names,
 * which never names another. One read per such run.
 */
export async function originsOf(
  store: RunStore,
  runId: string,
  checkpoints: readonly Carrier[],
): Promise<Origin[]> {
  const wanted = new Map<string, Set<number>>();
  for (const { outputFrom } of checkpoints) {
    if (!outputFrom) continue;
    const seqs = wanted.get(outputFrom.runId) ?? new Set();
    wanted.set(outputFrom.runId, seqs.add(outputFrom.checkpoint));
  }
  const found = new Map<string, Carrier>();
  for (const [otherId, seqs] of wanted) {
    for (const other of await store.readCheckpoints(otherId, [...seqs])) {
      found.set(`${otherId}/${other.seq}`, other);
    }
  }
  return checkpoints.map((checkpoint) => {
    const { outputFrom: from } = checkpoint;
    if (!from) return { runId, checkpoint };
    const origin = found.get(`${from.runId}/${from.checkpoint}`);
    if (!origin || origin.outputFrom) throw carriesNothing(from.runId, from.checkpoint);
    return { runId: from.runId, checkpoint: origin };
  });
}

/** @throws Error if it carries nothing */
export async function originText(store: RunStore, { runId, checkpoint }: Origin): Promise<string> {
  const { outputText, outputRef, seq } = checkpoint;
  if (outputText !== undefined) return outputText;
  if (outputRef === undefined) throw carriesNothing(runId, seq);
  return store.readPayload(runId, outputRef);
}

async function checkpointAt(store: RunStore, runId: string, seq: number): Promise<Checkpoint> {
  const [checkpoint] = await store.readCheckpoints(runId, [seq]);
  if (!checkpoint) throw new Error(`run ${runId} has no checkpoint ${seq}`);
  return checkpoint;
}

function carriesNothing(runId: string, seq: number): Error {
  return new Error(`run ${runId}: checkpoint ${seq} carries no value`);
}
