/**
 * Splits the plan of a repair into commits, and reads the outputs to copy. Each commit also writes the snapshot,
 * because the event that records the commit extends the journal.
 */
import { sha256Hex } from '../../core/encoding/hash.ts';
import { comparableText } from '../../core/integrity/differing.ts';
import type { RunAsFound } from '../../core/integrity/found.ts';
import type { PlaceChange, RepairChange, RepairPlan } from '../../core/integrity/plan.ts';
import type { EventData } from '../../core/run/events.ts';
import type { Checkpoint, StepRecord } from '../../core/run/records.ts';
import { type SendDeps, sendUntilKnown } from '../../journal/send-until-known.ts';
import type { DocumentWrite, RepairStore } from '../../ports/runs/integrity-store.ts';

/** Documents in one commit: Firestore takes 500 writes. */
const MAX_DOCUMENTS = 200;
/** Outputs in one commit, bytes of text. The whole commit stays below Firestore's 10 MiB. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
/** Names in an event, which is stored as long as the run. */
const MAX_NAMES = 50;

interface RepairBatch {
  readonly changes: RepairChange[];
  readonly places: PlaceChange[];
  readonly steps: DocumentWrite<StepRecord>[];
  readonly checkpoints: DocumentWrite<Checkpoint>[];
}

type FetchDeps = SendDeps & { readonly repairs: Pick<RepairStore, 'outputText'> };

/** The commits of the plan, with the snapshot in the first. `stale`: an output to copy has changed, so the run must be checked again. */
export async function* batchesOf(
  deps: FetchDeps,
  run: RunAsFound,
  { changes, places }: RepairPlan,
): AsyncGenerator<RepairBatch | 'stale'> {
  let batch = emptyBatch();
  let bytes = 0;
  for (const change of [...changes].sort(snapshotFirst)) {
    const output = await outputFor(deps, run, change);
    if (output === 'stale') {
      if (batch.changes.length > 0) yield batch;
      yield 'stale';
      return;
    }
    const more = Buffer.byteLength(output.outputText ?? '');
    const { length } = batch.changes;
    if (length >= MAX_DOCUMENTS || (length > 0 && bytes + more > MAX_OUTPUT_BYTES)) {
      yield batch;
      batch = emptyBatch();
      bytes = 0;
    }
    bytes += more;
    batch.changes.push(change);
    const { kind, id, seen, after } = change;
    if (kind === 'step') batch.steps.push({ id, seen, value: after });
    if (kind === 'checkpoint') batch.checkpoints.push({ id, seen, value: after && { ...after, ...output } });
  }
  batch.places.push(...places);
  if (batch.changes.length + batch.places.length > 0) yield batch;
}

/** Record of a commit for the journal: hashes of the documents before and after, and their names. */
export function repairedDataOf({ changes, places }: RepairBatch): EventData['snapshot_repaired'] {
  const hashOf = (side: 'before' | 'after') =>
    sha256Hex(JSON.stringify(changes.map((change) => [change.subject, comparableText(change[side])])));
  const all = [...changes, ...places];
  return {
    beforeHash: hashOf('before'),
    afterHash: hashOf('after'),
    problems: [...new Set(all.flatMap(({ fixes }) => fixes))],
    documents: [...new Set(all.map(({ subject }) => subject))].slice(0, MAX_NAMES),
  };
}

function emptyBatch(): RepairBatch {
  return { changes: [], places: [], steps: [], checkpoints: [] };
}

function snapshotFirst(a: RepairChange, b: RepairChange): number {
  return Number(b.kind === 'snapshot') - Number(a.kind === 'snapshot');
}

/** The text for the checkpoint, checked against the hash in the journal. */
async function outputFor(
  deps: FetchDeps,
  { runId, journal }: RunAsFound,
  change: RepairChange,
): Promise<{ readonly outputText?: string } | 'stale'> {
  if (change.kind !== 'checkpoint' || !change.output) return {};
  const { output } = change;
  if ('text' in output) return { outputText: output.text };
  const outputText = await sendUntilKnown(deps, () => deps.repairs.outputText(runId, output.checkpoint));
  const sha = journal.checkpoints.get(change.id)?.output?.sha;
  if (outputText === undefined || (sha !== undefined && sha256Hex(outputText) !== sha)) return 'stale';
  return { outputText };
}
