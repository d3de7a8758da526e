/** A preview as text. Pure. */
import type { Answer } from '../../../api/client.ts';
import type { Mode } from './request.ts';

export type Preview = Answer<'SuccessorPreview'>;
type PreviewStep = Preview['steps'][number];
type PreviewEffect = Preview['effects'][number];

export interface Words {
  readonly tone: 'good' | 'warn' | 'wait' | 'live';
  readonly words: string;
  readonly because: string;
}

const WHY: Readonly<Record<NonNullable<PreviewStep['why']>, string>> = {
  from_start: 'it starts from the beginning',
  chosen: 'it was chosen',
  follows_chosen: 'it follows the chosen step',
  not_reached: 'the run had not reached it',
  failed: 'it had failed',
  not_completed: 'it had not completed',
  undone: 'it was undone',
  undo_failed: 'its undo failed',
  effect_in_doubt: 'an action of it is in doubt',
  not_resumable: 'its workflow does not allow reuse',
  needs_run: 'a step it depends on runs',
  changed: 'its inputs changed',
};

/** A set that runs also shows how many of its items are reused. */
export function previewStepWords({ action, why, from, items = 0, revision }: PreviewStep): Words {
  if (action === 'reused') {
    const because = from ? `as recorded at checkpoint ${from.checkpoint}` : 'as recorded';
    return { tone: 'good', words: 'reused', because };
  }
  const taken = items === 0 ? '' : `, ${items} of its items are reused`;
  return {
    tone: 'live',
    words: revision > 1 ? `runs, as revision ${revision}` : 'runs',
    because: `${why === undefined ? '' : WHY[why]}${taken}`,
  };
}

const ACTIONS: Readonly<Record<PreviewEffect['action'], readonly [Words['tone'], string]>> = {
  reused: ['good', 'answered as recorded'],
  're-executed': ['warn', 'done again'],
  asked: ['wait', 'asks a person first'],
  looked_up: ['live', 'checked with the receiver'],
};
const EFFECT_WHY: Readonly<Record<PreviewEffect['why'], string>> = {
  recorded: 'its result is recorded',
  policy: 'by its replay policy',
  not_applied: 'it did not take place',
  in_doubt: 'it is in doubt',
};

/** Describes what happens if the step makes the same call again. */
export function previewEffectWords({ action, why }: PreviewEffect): Words {
  const [tone, words] = ACTIONS[action];
  return { tone, words, because: EFFECT_WHY[why] };
}

/** Counts for the line above the tables. */
export function countsOf({ steps, effects }: Preview): string {
  const reused = steps.filter(({ action }) => action === 'reused').length;
  const repeated = effects.filter(({ action }) => action === 're-executed').length;
  const asked = effects.filter(({ action }) => action === 'asked').length;
  const counts: [number, string][] = [
    [reused, 'reused'],
    [steps.length - reused, 'to run'],
    [repeated, `${repeated === 1 ? 'effect' : 'effects'} repeated`],
    [asked, `${asked === 1 ? 'effect' : 'effects'} asked about`],
  ];
  return counts
    .filter(([count], at) => count > 0 || at < 2)
    .map(([count, what]) => `${count} ${what}`)
    .join(' · ');
}

export const MODES: Readonly<Record<Mode, { readonly title: string; readonly what: string }>> = {
  resume: {
    title: 'Resume the run',
    what: 'A new run continues where this one stopped. Completed steps are reused, and recorded effects are not repeated.',
  },
  replay: {
    title: 'Replay the run',
    what: 'A new run repeats the work. Recorded effects are reused unless their policy says otherwise.',
  },
  fork: {
    title: 'Fork the run',
    what: 'A new run with new input or on another version. Steps with unchanged inputs are reused.',
  },
};

/** Start of a successor if neither step nor checkpoint is chosen. */
export const FROM_ELSEWHERE: Readonly<Record<Mode, string>> = {
  resume: 'Where it stopped',
  replay: 'The start',
  fork: 'Where it ended',
};
