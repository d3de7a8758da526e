/**
 * Plans a repair: the smallest change of the other documents that makes them match the journal, and the problems that it refuses.
 * Pure.
 *
 * Must not: touch the journal, or change anything while the journal itself is damaged.
 */
import type { Checkpoint, StepRecord } from '../run/records.ts';
import type { RunState } from '../run/state.ts';
import { carriesRight, outputsOf } from './documents.ts';
import type { ExpectedCheckpoint } from './expected.ts';
import type { FoundCheckpoint, FoundDocument, RunAsFound } from './found.ts';
import { type ConsistencyProblem, isBlocking, type ProblemCode } from './problems.ts';
import { mailboxPath } from './surroundings.ts';

interface DocumentRepair<K extends string, T> {
  readonly kind: K;
  readonly id: string;
  /** As in the problem: `run`, `steps/verdict`, `checkpoints/0000000007`. */
  readonly subject: string;
  readonly fixes: readonly ProblemCode[];
  /** Version of the checked document; undefined: it does not exist, and is created. */
  readonly seen: string | undefined;
  /** The document as found; undefined if it is unreadable or missing. */
  readonly before: object | undefined;
  /** Undefined: the document is deleted. */
  readonly after: T | undefined;
}

/** Source of a checkpoint's output: the journal, or the checkpoint with this seq, which may be itself. */
type OutputSource = { readonly text: string } | { readonly checkpoint: number };

export type RepairChange =
  | DocumentRepair<'snapshot', RunState>
  | DocumentRepair<'step', StepRecord>
  /** Without its output. */
  | (DocumentRepair<'checkpoint', Checkpoint> & { readonly output?: OutputSource });

/** Change of an event mailbox entry; the mailbox is shared by several runs and changed by its own rules. */
export interface PlaceChange {
  readonly kind: 'list' | 'leave';
  readonly subject: string;
  readonly fixes: readonly ProblemCode[];
  readonly event: string;
  readonly key: string;
  readonly waitId: string;
}

export interface RepairPlan {
  readonly changes: readonly RepairChange[];
  readonly places: readonly PlaceChange[];
  /** Problems that need an operator. If the journal is damaged, all of them. */
  readonly refused: readonly ConsistencyProblem[];
}

/** @param problems those that `checkRun` found in the documents */
export function planRepair(run: RunAsFound, problems: readonly ConsistencyProblem[]): RepairPlan {
  const { state } = run.journal;
  if (!state || problems.some(isBlocking)) return { changes: [], places: [], refused: problems };
  const healable = problems.filter((problem) => problem.healable);
  const change = changer(run, state);
  return {
    changes: [...Map.groupBy(healable, documentOf)].flatMap(([subject, found]) => change(subject, found)),
    places: healable.flatMap((problem) => placesOf(run, problem)),
    refused: problems.filter((problem) => !problem.healable),
  };
}

export function isEmpty({ changes, places }: RepairPlan): boolean {
  return changes.length + places.length === 0;
}

/** Pages are part of the run document, and written with it. */
function documentOf({ subject }: ConsistencyProblem): string {
  return subject.startsWith('pages/') ? 'run' : subject;
}

/** Replaces a found document by the expected one. */
function changer(run: RunAsFound, state: RunState) {
  const { journal, snapshot } = run;
  const steps = new Map(run.steps.map((found) => [found.id, found]));
  const checkpoints = new Map(run.checkpoints.map((found) => [found.id, found]));
  const outputs = outputsOf(run);
  return (subject: string, problems: readonly ConsistencyProblem[]): RepairChange[] => {
    const [folder, id = ''] = subject.split('/', 2);
    const fixes = [...new Set(problems.map(({ code }) => code))];
    const from = (found: FoundDocument<object> | undefined) => ({
      ...{ subject, id, fixes, seen: found?.version },
      before: found?.kind === 'sound' ? found.value : undefined,
    });
    if (folder === 'run') return [{ kind: 'snapshot', ...from(snapshot), after: state }];
    if (folder === 'steps') {
      return [{ kind: 'step', ...from(steps.get(id)), after: journal.steps.get(id) }];
    }
    if (folder !== 'checkpoints') return [];
    const found = checkpoints.get(id);
    const expected = journal.checkpoints.get(id);
    const after = expected ? outputOf(expected, found, outputs) : { after: undefined };
    return [{ kind: 'checkpoint', ...from(found), ...after }];
  };
}

function outputOf(
  expected: ExpectedCheckpoint,
  found: FoundDocument<FoundCheckpoint> | undefined,
  outputs: ReadonlyMap<string, FoundCheckpoint>,
): { readonly after: Checkpoint; readonly output?: OutputSource } {
  const { checkpoint: after, output } = expected;
  if (!output) return { after };
  const own = found?.kind === 'sound' && carriesRight(found.value, expected) ? found.value : undefined;
  if (!own && output.text !== undefined) return { after, output: { text: output.text } };
  const source = own ?? outputs.get(output.sha ?? '');
  if (!source) throw new Error(`the output of checkpoint ${after.seq} is known nowhere`);
  const { outputRef, seq } = source.checkpoint;
  // A reference is copied unchanged; an output is read when it is written.
  if (outputRef) return { after: { ...after, outputRef } };
  return { after, output: { checkpoint: own ? after.seq : seq } };
}

function placesOf({ mailboxes }: RunAsFound, { code, subject, evidence }: ConsistencyProblem): PlaceChange[] {
  if (code !== 'WAIT_NOT_LISTED' && code !== 'LISTED_WITHOUT_WAIT') return [];
  const place = mailboxes.find((mailbox) => mailboxPath(mailbox) === subject);
  if (!place) return [];
  const { event, key } = place;
  const kind = code === 'WAIT_NOT_LISTED' ? 'list' : 'leave';
  return [{ kind, subject, fixes: [code], event, key, waitId: String(evidence.waitId) }];
}
