/**
 * The words of other systems for a run's status, and their translation in both directions. Ours are in status.ts.
 *
 * Must not: be used internally. Foreign words are translated once, at the edge of the API.
 */
import { closest } from '../closest.ts';
import { invalidInput } from '../errors.ts';
import { STOP_KINDS, type StopKind } from './events.ts';
import { isRunStatus, RUN_STATUSES, type RunStatus } from './status.ts';

/** Names of the vocabularies a caller may ask for. `cairn` is our own. */
export const VOCABULARIES = ['cairn', 'orca', 'orcho', 'gwi'] as const;

export type Vocabulary = (typeof VOCABULARIES)[number];

/** A status together with how a run was stopped: `halted` is `cancelled` by a person's halt. */
interface CanonicalStatus {
  readonly status: RunStatus;
  readonly stopKind?: 'halt';
}

const HALTED = 'halted';

/** Foreign words, and their meaning in ours. */
const FOREIGN_WORDS: Readonly<Record<string, CanonicalStatus>> = {
  waiting_for_human: { status: 'awaiting_approval' },
  waiting_for_signal: { status: 'waiting_external' },
  canceled: { status: 'cancelled' },
  done: { status: 'completed' },
  [HALTED]: { status: 'cancelled', stopKind: 'halt' },
  awaiting_phase_handoff: { status: 'awaiting_approval' },
  awaiting_gate_decision: { status: 'awaiting_approval' },
  awaiting_human_review: { status: 'awaiting_approval' },
};

/**
 * Our statuses in each vocabulary. Where a vocabulary has no word for a status, it gets the word that its readers would see at
 * that moment: an interrupted run is about to be resumed, so it reads `running` where the vocabulary has no interruption.
 */
const PROJECTIONS: Readonly<Record<Vocabulary, Readonly<Record<RunStatus, string>>>> = {
  cairn: Object.fromEntries(RUN_STATUSES.map((status) => [status, status])) as Record<RunStatus, string>,
  orca: {
    pending: 'pending',
    running: 'running',
    replaying: 'replaying',
    awaiting_approval: 'waiting_for_human',
    waiting_external: 'waiting_for_signal',
    interrupted: 'running',
    completed: 'completed',
    failed: 'failed',
    cancelled: 'canceled',
  },
  orcho: {
    pending: 'running',
    running: 'running',
    replaying: 'running',
    awaiting_approval: 'awaiting_phase_handoff',
    waiting_external: 'running',
    interrupted: 'interrupted',
    completed: 'done',
    failed: 'failed',
    cancelled: 'cancelled',
  },
  gwi: {
    pending: 'pending',
    running: 'running',
    replaying: 'running',
    awaiting_approval: 'awaiting_approval',
    waiting_external: 'waiting_external',
    interrupted: 'running',
    completed: 'completed',
    failed: 'failed',
    cancelled: 'cancelled',
  },
};

/** The run status for a word of any vocabulary; undefined for an unknown word. */
export function knownWord(word: string): CanonicalStatus | undefined {
  if (isRunStatus(word)) return { status: word };
  return Object.hasOwn(FOREIGN_WORDS, word) ? FOREIGN_WORDS[word] : undefined;
}

/** As {@link knownWord}. @throws CairnError INVALID_INPUT for an unknown word */
export function canonicalWord(word: string): CanonicalStatus {
  const known = knownWord(word);
  if (known !== undefined) return known;
  const words = [...RUN_STATUSES, ...Object.keys(FOREIGN_WORDS)];
  const near = closest(word, words);
  throw invalidInput('status', `"${word}" is not a run status`, {
    help: `${near === undefined ? '' : `Did you mean ${near}? `}Use one of ${words.join(', ')}.`,
  });
}

/** Facts that determine the word for a run. */
export interface Called {
  readonly status: RunStatus;
  readonly stopKind?: string | null | undefined;
}

export function projectStatus(run: Called, vocabulary: Vocabulary): string {
  if (vocabulary === 'orcho' && run.status === 'cancelled' && run.stopKind === 'halt') return HALTED;
  return PROJECTIONS[vocabulary][run.status];
}

/** All words for a run in all vocabularies; ours first. */
export const PROJECTED_WORDS: readonly string[] = [
  ...new Set([...RUN_STATUSES, ...VOCABULARIES.flatMap((name) => Object.values(PROJECTIONS[name])), HALTED]),
];

/** The runs that a word names: those with any of these statuses and, where the kind of stop matters, with that kind. */
export interface RunsCalled {
  readonly statuses: readonly RunStatus[];
  readonly stopKinds?: readonly StopKind[] | undefined;
}

/**
 * The runs that the vocabulary names by this word, which may have several of our statuses. A word of another vocabulary has its
 * meaning there.
 *
 * @throws CairnError INVALID_INPUT for an unknown word
 */
export function runsCalled(word: string, vocabulary: Vocabulary): RunsCalled {
  if (vocabulary === 'orcho' && word === 'cancelled')
    return { statuses: ['cancelled'], stopKinds: STOP_KINDS.filter((kind) => kind !== 'halt') };
  const statuses = RUN_STATUSES.filter((status) => PROJECTIONS[vocabulary][status] === word);
  if (statuses.length > 0) return { statuses };
  const { status, stopKind } = canonicalWord(word);
  return { statuses: [status], stopKinds: stopKind && [stopKind] };
}
