/** Text of events of the side-effect ledger. Pure. */
import type { DataOf } from 'cairn/api/events';
import { type EventLines, type EventTone, line, parts, stepName } from './line.ts';

type SettledOutcome = DataOf<'effect_settled'>['outcome'];

const MARKS: Readonly<Record<SettledOutcome, string>> = {
  recorded: '←',
  reused: '=',
  failed: '✗',
  in_doubt: '?',
  blocked: '‖',
};
const TONES: Readonly<Record<SettledOutcome, EventTone>> = {
  recorded: 'good',
  reused: 'good',
  failed: 'bad',
  in_doubt: 'bad',
  blocked: 'warn',
};

export const EFFECT_LINES = {
  effect_attempted: (data) =>
    data.presumed
      ? line(
          '?',
          'warn',
          `${stepName(data)} may have called ${data.capabilityId} before the restore`,
          data.effectId,
        )
      : line('→', 'plain', `${stepName(data)} calls ${data.capabilityId}`, data.effectId),
  effect_settled: ({ outcome, by, originEffectId, ...data }) =>
    line(
      MARKS[outcome],
      TONES[outcome],
      `${stepName(data)}: ${data.capabilityId} ${outcome.replace('_', ' ')}`,
      parts(
        by && `reported by ${by === 'person' ? 'a person' : 'the receiver'}`,
        originEffectId ?? data.effectId,
      ),
    ),
} satisfies Partial<EventLines>;
