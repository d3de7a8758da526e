/**
 * Plan of a repair: the smallest change of the documents beside the journal that makes them match it, and the problems
 * it refuses. Pure.
 *
 * Must not: touch the journal, or change anything while the journal itself is damaged.
 */
import { encodeKey } from '../encoding/keys.ts';
import type { Checkpoint, StepRecord } from '../run/records.ts';
import type { RunState } from '../run/state.ts';
import { carriesRight, expectedAt, outputsOf } from './documents.ts';
import type { CheckpointFact, FoundDocument, RunFacts } from './facts.ts';
import { isBlocking, type Problem, type ProblemCode } from './problems.ts';

interface DocumentChange {
  /** As in the problem: `run`, `steps/verdict`, `checkpoints/0000000007`. */
  readonly subject: string;
  /** Problems that the change fixes. */
  readonly fixes: readonly ProblemCode[];
  /** Version of the document that was judged; undefined: there is none, and it is created. */
  readonly seen: string | undefined;
  /** The document as found; undefined if it is unreadable or missing. */
  readonly before: object | undefined;
}

/** Source of a checkpoint's output: the journal, or the checkpoint with this seq, which may be itself. */
export type OutputSource = { readonly text: string } | { readonly checkpoint: number };

export type RepairChange =
  | (DocumentChange & { readonly kind: 'snapshot'; readonly after: RunState })
  /** `after` undefined: the document is deleted. */
  | (DocumentChange & { readonly kind: 'step'; readonly id: string; readonly after: StepRecord | undefined })
  | (DocumentChange & {
      readonly kind: 'checkpoint';
      readonly id: string;
      /** Without its output. */
      readonly after: Checkpoint | undefined;
      readonly output?: OutputSource;
    });

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
  readonly refused: readonly Problem[];
}

/** @param problems those that `checkRun` found in the facts */
export function planRepair(facts: RunFacts, problems: readonly Problem[]): RepairPlan {
  const { state } = facts.journal;
  if (!state || problems.some(isBlocking)) return { changes: [], places: [], refused: problems };
  const healable = problems.filter((problem) => problem.healable);
  const bySubject = [...Map.groupBy(healable, ({ subject }) => documentOf(subject))];
  const known = knownOf(facts);
  return {
    changes: bySubject.flatMap(([subject, found]) =>
      changesOf(known, state, { subject, fixes: codesOf(found) }),
    ),
    places: healable.flatMap((problem) => placesOf(facts, problem)),
    refused: problems.filter((problem) => !problem.healable),
  };
}

/** Pages are part of the run document, and written with it. */
function documentOf(subject: string): string {
  return subject.startsWith('pages/') ? 'run' : subject;
}

/** True if there is nothing to do. */
export function isEmpty({ changes, places }: RepairPlan): boolean {
  return changes.length + places.length === 0;
}

interface Target {
  readonly subject: string;
  readonly fixes: readonly ProblemCode[];
}

/** The facts by the ids of documents. */
interface Known {
  readonly facts: RunFacts;
  readonly steps: ReadonlyMap<string, FoundDocument<StepRecord>>;
  readonly expectedSteps: ReadonlyMap<string, StepRecord>;
  readonly checkpoints: ReadonlyMap<string, FoundDocument<CheckpointFact>>;
  readonly outputs: ReadonlyMap<string, CheckpointFact>;
}

function knownOf(facts: RunFacts): Known {
  return {
    facts,
    steps: new Map(facts.steps.map((found) => [found.id, found])),
    expectedSteps: new Map([...facts.journal.steps].map(([key, record]) => [encodeKey(key), record])),
    checkpoints: new Map(facts.checkpoints.map((found) => [found.id, found])),
    outputs: outputsOf(facts),
  };
}

function changesOf(known: Known, state: RunState, target: Target): RepairChange[] {
  const { subject } = target;
  if (subject === 'run') return [snapshotChange(known.facts.snapshot, state, target)];
  const [folder, id = ''] = subject.split('/', 2);
  if (folder === 'steps') return [stepChange(known, id, target)];
  if (folder === 'checkpoints') return [checkpointChange(known, id, target)];
  return [];
}

function snapshotChange(
  snapshot: FoundDocument<RunState> | undefined,
  after: RunState,
  target: Target,
): RepairChange {
  return { ...target, kind: 'snapshot', seen: snapshot?.version, before: soundValue(snapshot), after };
}

function stepChange({ steps, expectedSteps }: Known, id: string, target: Target): RepairChange {
  const found = steps.get(id);
  const after = expectedSteps.get(id);
  return { ...target, kind: 'step', id, seen: found?.version, before: soundValue(found), after };
}

function checkpointChange({ facts, checkpoints, outputs }: Known, id: string, target: Target): RepairChange {
  const found = checkpoints.get(id);
  const expected = expectedAt(facts, id);
  const change = {
    ...target,
    kind: 'checkpoint',
    id,
    seen: found?.version,
    before: soundValue(found),
  } as const;
  if (!expected) return { ...change, after: undefined };
  const { checkpoint, output } = expected;
  if (!output) return { ...change, after: checkpoint };
  const own = found?.kind === 'sound' && carriesRight(found.value, expected) ? found.value : undefined;
  if (!own && output.text !== undefined)
    return { ...change, after: checkpoint, output: { text: output.text } };
  const source = own ?? outputs.get(output.sha ?? '');
  if (!source) throw new Error(`the output of checkpoint ${id} is known nowhere`);
  const { outputRef, seq } = source.checkpoint;
  // A reference is copied as it is; an output is fetched when it is written. Of its own place it may say anything.
  if (outputRef) return { ...change, after: { ...checkpoint, outputRef } };
  return { ...change, after: checkpoint, output: { checkpoint: own ? checkpoint.seq : seq } };
}

function placesOf({ mailboxes }: RunFacts, { code, subject, evidence }: Problem): PlaceChange[] {
  if (code !== 'WAIT_NOT_LISTED' && code !== 'LISTED_WITHOUT_WAIT') return [];
  const place = mailboxes.find(({ event, key }) => subject === placeSubject(event, key));
  if (!place) return [];
  const { event, key } = place;
  const kind = code === 'WAIT_NOT_LISTED' ? 'list' : 'leave';
  return [{ kind, subject, fixes: [code], event, key, waitId: String(evidence.waitId) }];
}

/** Name of an event mailbox in a problem. */
function placeSubject(event: string, key: string): string {
  return `rendezvous/${event}/${key}`;
}

function soundValue(found: FoundDocument<object> | undefined): object | undefined {
  return found?.kind === 'sound' ? found.value : undefined;
}

function codesOf(problems: readonly Problem[]): ProblemCode[] {
  return [...new Set(problems.map(({ code }) => code))];
}
