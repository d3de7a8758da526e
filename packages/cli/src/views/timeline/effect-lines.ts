/** Text of events of the side-effect ledger. Pure. */

import type { DataOf } from 'cairn/api/events';
import type { Tone } from '../../render/style.ts';
import { line, parts, stepName } from './line.ts';

type SettledOutcome = DataOf<'effect_settled'>['outcome'];

const MARKS: Readonly<Record<SettledOutcome, string>> = {
  recorded: '←',
  reused: '=',
  failed: '✗',
  in_doubt: '?',
  blocked: '‖',
};
const TONES: Readonly<Record<SettledOutcome, Tone>> = {
  recorded: 'good',
  reused: 'good',
  failed: 'bad',
  in_doubt: 'bad',
  blocked: 'warn',
};

export const EFFECT_LINES = {
  effect_attempted: (data: DataOf<'effect_attempted'>) =>
    data.presumed
      ? line(
          '?',
          'warn',
          `${stepName(data)} may have called ${data.capabilityId} before the restore`,
          data.effectId,
        )
      : line('→', 'plain', `${stepName(data)} calls ${data.capabilityId}`, data.effectId),
  effect_settled: ({ outcome, by, originEffectId, ...data }: DataOf<'effect_settled'>) =>
    line(
      MARKS[outcome],
      TONES[outcome],
      `${stepName(data)}: ${data.capabilityId} ${outcome.replace('_', ' ')}`,
      parts(
        by && `reported by ${by === 'person' ? 'a person' : 'the receiver'}`,
        originEffectId ?? data.effectId,
      ),
    ),
};
