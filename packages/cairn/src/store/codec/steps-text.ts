/**
 * The steps of a run as compact text: one entry a step, separated by spaces.
 *
 *     id:seq                            succeeded, revision 1
 *     id:seq{d|s|r|f}                   degraded, skipped, reused, failed
 *     id:seq….revision                  where it is not 1
 *     id:seqw                           waiting
 *     id:seqg                           sent back, to begin anew ("again")
 *     id:seqo@attempt,startedAt         running ("open")
 *     id:seqt@attempt,startedAt,retryAt to be tried again
 *     id:seqq@attempt,startedAt,retryAt the same, when its question fits
 *     …+polls                           of the last three, where attempts found a polled condition not to hold
 *
 * Short, since a run has up to 10,000 of them. Keys are percent-encoded but for brackets: nothing an item key holds can be taken for a separator.
 */
import { Map as PersistentMap } from 'immutable';
import type { StepOutcome, StepState } from '../../core/run/state.ts';

export type Steps = PersistentMap<string, StepState>;

const LETTERS: { readonly [K in StepOutcome]: string } = {
  succeeded: '',
  degraded: 'd',
  skipped: 's',
  reused: 'r',
  failed: 'f',
};
const OUTCOMES = new Map(
  Object.entries(LETTERS).map(([outcome, letter]) => [letter, outcome as StepOutcome]),
);

const ENTRY = /^([^:]+):(\d+)([a-z]?)(?:\.(\d+))?(?:@(-?\d+),(-?\d+)(?:,(-?\d+))?(?:\+(\d+))?)?$/;

export function encodeSteps(steps: Steps): string {
  const entries: string[] = [];
  for (const [key, step] of steps) entries.push(encodeEntry(key, step));
  return entries.join(' ');
}

/** The entries of all steps: first the completed ones, in the order in which they ended. */
export function stepEntries(steps: Steps): string[] {
  return [...steps]
    .sort(([, a], [, b]) => Number(a.phase !== 'done') - Number(b.phase !== 'done') || a.seq - b.seq)
    .map(([key, step]) => encodeEntry(key, step));
}

function encodeEntry(key: string, step: StepState): string {
  return `${encodeStepKey(key)}:${encodeState(step)}`;
}

/** @throws Error with the invalid entry */
export function decodeSteps(text: string): Steps {
  if (text === '') return PersistentMap();
  return PersistentMap<string, StepState>().withMutations((steps) => {
    for (const entry of text.split(' ')) {
      const [, key, ...parts] = ENTRY.exec(entry) ?? [];
      const state = key === undefined ? undefined : decodeState(parts);
      if (key === undefined || !state) throw new Error(`'${entry}' is not the entry of a step`);
      steps.set(key.includes('%') ? decodeURIComponent(key) : key, state);
    }
  });
}

/** Only unusual item keys are encoded, because a snapshot may write thousands of plain keys every second. */
const PLAIN_KEY = /^[\w.[\]-]+$/;

function encodeStepKey(key: string): string {
  if (PLAIN_KEY.test(key)) return key;
  return encodeURIComponent(key).replaceAll('%5B', '[').replaceAll('%5D', ']');
}

function encodeState(step: StepState): string {
  const revision = step.revision === 1 ? '' : `.${step.revision}`;
  switch (step.phase) {
    case 'done':
      return `${step.seq}${LETTERS[step.outcome]}${revision}`;
    case 'waiting':
      return `${step.seq}w${revision}`;
    case 'again':
      return `${step.seq}g${revision}`;
    case 'running':
      return `${step.seq}o${revision}@${step.attempt},${step.startedAt}${pollsText(step)}`;
    case 'retrying':
      return `${step.seq}${step.whenRoom ? 'q' : 't'}${revision}@${step.attempt},${step.startedAt},${step.retryAt}${pollsText(step)}`;
  }
}

function pollsText({ polls }: { readonly polls?: number | undefined }): string {
  return polls === undefined ? '' : `+${polls}`;
}

function decodeState([seqText, letter, revisionText, ...times]: (string | undefined)[]):
  | StepState
  | undefined {
  const seq = Number(seqText);
  const revision = Number(revisionText ?? 1);
  const [attempt, startedAt, retryAt, polled] = times.map((time) =>
    time === undefined ? undefined : Number(time),
  );
  const polls = polled === undefined ? {} : { polls: polled };
  const outcome = OUTCOMES.get(letter ?? '');
  if (outcome !== undefined)
    return attempt === undefined ? { phase: 'done', seq, revision, outcome } : undefined;
  if (letter === 'w' || letter === 'g') {
    return attempt === undefined ? { phase: letter === 'w' ? 'waiting' : 'again', seq, revision } : undefined;
  }
  if (attempt === undefined || startedAt === undefined) return undefined;
  if (letter === 'o' && retryAt === undefined)
    return { phase: 'running', seq, revision, attempt, startedAt, ...polls };
  if ((letter === 't' || letter === 'q') && retryAt !== undefined) {
    const room = letter === 'q' ? { whenRoom: true as const } : {};
    return { phase: 'retrying', seq, revision, attempt, startedAt, retryAt, ...room, ...polls };
  }
  return undefined;
}
