/** What a preview foretells, in words. Pure. */
import type { Answer } from '../../../api/client.ts';
import type { Mode } from './request.ts';

export type Preview = Answer<'SuccessorPreview'>;
type Step = Preview['steps'][number];
type Effect = Preview['effects'][number];

export interface Words {
  readonly tone: 'good' | 'warn' | 'wait' | 'live';
  readonly words: string;
  readonly because: string;
}

const WHY: Readonly<Record<NonNullable<Step['why']>, string>> = {
  from_start: 'it begins from the start',
  chosen: 'it was chosen',
  follows_chosen: 'it follows the step that was chosen',
  not_reached: 'the run had not reached it',
  failed: 'it had failed',
  not_completed: 'it had not completed',
  undone: 'what it did was undone',
  undo_failed: 'what it did could not be undone',
  effect_in_doubt: 'nobody knows what became of an outside action of it',
  not_resumable: 'its workflow says that it is not to be taken over',
  needs_run: 'a step that it needs runs',
  changed: 'it would see something else than it did',
};

/** Of a set that runs: how much of it is taken over. */
export function stepWords({ action, why, from, items = 0, revision }: Step): Words {
  if (action === 'reused') {
    const because = from ? `as recorded at checkpoint ${from.checkpoint}` : 'as recorded';
    return { tone: 'good', words: 'reused', because };
  }
  const taken = items === 0 ? '' : `, ${items} of its items are taken over`;
  return {
    tone: 'live',
    words: revision > 1 ? `runs, as revision ${revision}` : 'runs',
    because: `${why === undefined ? '' : WHY[why]}${taken}`,
  };
}

const ACTIONS: Readonly<Record<Effect['action'], readonly [Words['tone'], string]>> = {
  reused: ['good', 'answered as recorded'],
  're-executed': ['warn', 'done once more'],
  asked: ['wait', 'a person is asked first'],
  looked_up: ['live', 'looked up at the receiver'],
};
const EFFECT_WHY: Readonly<Record<Effect['why'], string>> = {
  recorded: 'its result is recorded',
  policy: 'so says its replay policy',
  not_applied: 'it did not take place',
  in_doubt: 'nobody knows whether it took place',
};

/** If the step asks for the same again. */
export function effectWords({ action, why }: Effect): Words {
  const [tone, words] = ACTIONS[action];
  return { tone, words, because: EFFECT_WHY[why] };
}

/** How many of each, for the line above the tables. */
export function countsOf({ steps, effects }: Preview): string {
  const reused = steps.filter(({ action }) => action === 'reused').length;
  const counts: [number, string][] = [
    [reused, 'reused'],
    [steps.length - reused, 'to run'],
    [effects.filter(({ action }) => action === 're-executed').length, 'outside actions done once more'],
    [effects.filter(({ action }) => action === 'asked').length, 'outside actions asked about'],
  ];
  return counts
    .filter(([count], at) => count > 0 || at < 2)
    .map(([count, what]) => `${count} ${what}`)
    .join(' · ');
}

export const MODES: Readonly<Record<Mode, { readonly title: string; readonly what: string }>> = {
  resume: {
    title: 'Resume the run',
    what: 'A new run goes on where this one stopped. What had completed is taken over; what is recorded is never done again outside.',
  },
  replay: {
    title: 'Replay the run',
    what: 'A new run does the same work once more, its outside actions answered as recorded unless their policy says otherwise.',
  },
  fork: {
    title: 'Fork the run',
    what: 'A new run goes another way: with other input, or on another version of the plan. What would come to the same is taken over.',
  },
};

/** What it means to choose no step and no checkpoint. */
export const FROM_ELSEWHERE: Readonly<Record<Mode, string>> = {
  resume: 'Where it stopped',
  replay: 'The start',
  fork: 'Where it ended',
};
