/**
 * Cuts the plan of a repair into commits, and fetches the outputs that are copied. Each commit writes the snapshot beside
 * its documents, since the event that tells of it moves the journal on.
 */
import { sha256Hex } from '../../core/encoding/hash.ts';
import type { RunFacts } from '../../core/integrity/facts.ts';
import type { PlaceChange, RepairChange, RepairPlan } from '../../core/integrity/plan.ts';
import { textOf } from '../../core/integrity/same.ts';
import type { EventData } from '../../core/run/events.ts';
import type { Checkpoint, StepRecord } from '../../core/run/records.ts';
import { type SendDeps, sendUntilKnown } from '../../journal/send-until-known.ts';
import type { DocumentWrite, RepairStore } from '../../ports/runs/integrity-store.ts';

/** Documents in one commit: Firestore takes 500 writes. */
const MAX_DOCUMENTS = 200;
/** Outputs in one commit, bytes of text: with the rest it stays below Firestore's 10 MiB. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
/** Names that an event tells: it is kept for as long as the run. */
const MAX_NAMES = 50;

export interface RepairBatch {
  readonly changes: readonly RepairChange[];
  readonly places: readonly PlaceChange[];
  readonly steps: readonly DocumentWrite<StepRecord>[];
  readonly checkpoints: readonly DocumentWrite<Checkpoint>[];
}

export type FetchDeps = SendDeps & { readonly repairs: Pick<RepairStore, 'outputText'> };

/**
 * The commits of the plan, the snapshot in the first of them. `stale`: an output that was to be copied is not what it was,
 * so the run must be looked at again.
 */
export async function* batchesOf(
  deps: FetchDeps,
  facts: RunFacts,
  { changes, places }: RepairPlan,
): AsyncGenerator<RepairBatch | 'stale'> {
  let batch = new Filling();
  for (const change of [...changes].sort(snapshotFirst)) {
    const text = await outputFor(deps, facts, change);
    if (text === 'stale') {
      if (!batch.isEmpty) yield batch;
      yield 'stale';
      return;
    }
    if (!batch.hasRoomFor(text?.text)) {
      yield batch;
      batch = new Filling();
    }
    batch.add(change, text?.text);
  }
  batch.places.push(...places);
  if (!batch.isEmpty) yield batch;
}

/** Record of a commit for the journal: hashes of the documents before and after, and their names. */
export function toldOf({ changes, places }: RepairBatch): EventData['snapshot_repaired'] {
  const hashOf = (side: 'before' | 'after') =>
    sha256Hex(JSON.stringify(changes.map((change) => [change.subject, textOf(change[side])])));
  const documents = [...new Set([...changes, ...places].map(({ subject }) => subject))];
  const problems = [...new Set([...changes, ...places].flatMap(({ fixes }) => fixes))];
  return {
    beforeHash: hashOf('before'),
    afterHash: hashOf('after'),
    problems,
    documents: documents.slice(0, MAX_NAMES),
  };
}

class Filling implements RepairBatch {
  readonly changes: RepairChange[] = [];
  readonly places: PlaceChange[] = [];
  readonly steps: DocumentWrite<StepRecord>[] = [];
  readonly checkpoints: DocumentWrite<Checkpoint>[] = [];
  #bytes = 0;

  get isEmpty(): boolean {
    return this.changes.length + this.places.length === 0;
  }

  hasRoomFor(outputText = ''): boolean {
    const bytes = this.#bytes + Buffer.byteLength(outputText);
    return this.isEmpty || (this.changes.length < MAX_DOCUMENTS && bytes <= MAX_OUTPUT_BYTES);
  }

  add(change: RepairChange, outputText: string | undefined): void {
    this.changes.push(change);
    this.#bytes += Buffer.byteLength(outputText ?? '');
    if (change.kind === 'step') {
      const { id, seen, after: value } = change;
      this.steps.push({ id, seen, value });
    }
    if (change.kind === 'checkpoint') {
      const { id, seen, after } = change;
      const output = outputText === undefined ? {} : { outputText };
      this.checkpoints.push({ id, seen, value: after && { ...after, ...output } });
    }
  }
}

function snapshotFirst(a: RepairChange, b: RepairChange): number {
  return Number(b.kind === 'snapshot') - Number(a.kind === 'snapshot');
}

/** The text that the checkpoint is to carry, checked against what the journal says of it. */
async function outputFor(
  deps: FetchDeps,
  { runId, journal }: RunFacts,
  change: RepairChange,
): Promise<{ readonly text: string } | 'stale' | undefined> {
  if (change.kind !== 'checkpoint' || !change.output) return undefined;
  const { output } = change;
  if ('text' in output) return output;
  const text = await sendUntilKnown(deps, () => deps.repairs.outputText(runId, output.checkpoint));
  const sha = journal.checkpoints.get(Number(change.id))?.output?.sha;
  if (text === undefined || (sha !== undefined && sha256Hex(text) !== sha)) return 'stale';
  return { text };
}
