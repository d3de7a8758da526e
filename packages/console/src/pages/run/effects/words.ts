/** State of an effect as text and tone. Pure. */
import type { Answer } from '../../../api/client.ts';
import type { Run } from '../live/events.ts';

export type Effect = Answer<'Effect'>;

type EffectTone = 'good' | 'bad' | 'warn' | 'wait' | 'live';

interface EffectWords {
  readonly tone: EffectTone;
  readonly mark: string;
  readonly words: string;
  /** A sentence. */
  readonly meaning: string;
}

/** Facts about the run that decide the state of an effect: an attempt without an answer is under way only while a worker may still receive it. */
export interface EffectRunFacts {
  readonly isOver: boolean;
  /** Effects that the run asks a person about. */
  readonly asked: ReadonlySet<string>;
}

export function effectFacts(run: Pick<Run, 'waits'> | undefined, isOver: boolean): EffectRunFacts {
  return { isOver, asked: new Set(run?.waits.flatMap(({ effectId }) => effectId ?? [])) };
}

const IN_DOUBT = {
  tone: 'bad',
  mark: '?',
  words: 'in doubt',
} as const;

export function effectWords(effect: Effect, { isOver, asked }: EffectRunFacts): EffectWords {
  const { status, blockedBy, effectId, resolution } = effect;
  switch (status) {
    case 'recorded':
      return {
        tone: 'good',
        mark: '✓',
        words: 'executed',
        meaning: resolution
          ? `It took place; its result was recorded by ${resolution.by}.`
          : 'It took place, and its result is recorded.',
      };
    case 'reused':
      return {
        tone: 'good',
        mark: '↺',
        words: 'reused',
        meaning: 'It was not done again: the recorded result of an earlier effect was used.',
      };
    case 'failed':
      return { tone: 'bad', mark: '✕', words: 'failed', meaning: 'It did not take place.' };
    case 'attempted':
      if (asked.has(effectId)) return { ...IN_DOUBT, meaning: ASKED };
      if (isOver) return { ...IN_DOUBT, meaning: LEFT };
      return {
        tone: 'live',
        mark: '◐',
        words: 'under way',
        meaning: 'It was called, and its answer is not known yet. If none comes, it is in doubt.',
      };
    case 'blocked':
      return blocked(blockedBy, { isOver, resolution });
  }
}

const ASKED = 'It is not known whether it took place. The run waits for a person to decide.';
const LEFT =
  'It is not known whether it took place, and the run has ended. Check with the receiver, then resolve it.';

interface EffectStanding {
  readonly isOver: boolean;
  readonly resolution: Effect['resolution'];
}

function blocked(by: Effect['blockedBy'], { isOver, resolution }: EffectStanding): EffectWords {
  switch (by) {
    case 'policy':
      return {
        tone: 'wait',
        mark: '‖',
        words: 'blocked: asks first',
        meaning: 'It was done before, and its policy requires a person to confirm a repetition.',
      };
    case 'confirmation':
      return resolution
        ? { tone: 'good', mark: '✓', words: 'allowed', meaning: `${resolution.by} allowed the call.` }
        : {
            tone: 'wait',
            mark: '‖',
            words: 'blocked: asks first',
            meaning: 'It was not called yet: it requires confirmation by a person.',
          };
    case 'mismatch':
      return {
        tone: 'bad',
        mark: '≠',
        words: 'blocked: another request',
        meaning:
          'The request differs from the recorded one with the same key, so the receiver was not called.',
      };
    case 'doubt':
    case undefined:
      if (resolution) {
        return {
          tone: 'wait',
          mark: '↻',
          words: 'called again',
          meaning: `It is not known whether this call took place; ${resolution.by} had it made again.`,
        };
      }
      return { ...IN_DOUBT, meaning: isOver ? LEFT : ASKED };
  }
}

/** True if a person may resolve the effect: the run asks, or ended with it in doubt. */
export function isResolvedByPerson(effect: Effect, facts: EffectRunFacts): boolean {
  if (facts.asked.has(effect.effectId)) return true;
  return facts.isOver && effectWords(effect, facts).words === IN_DOUBT.words;
}

/** Counts by word, in order of first occurrence. */
export function countWords(
  effects: readonly Effect[],
  facts: EffectRunFacts,
): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const effect of effects) {
    const { words } = effectWords(effect, facts);
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  return [...counts];
}
