/** Resolutions of an effect that is in doubt or needs consent to be repeated, and their requests. Pure. */
import type { Answer } from '../../../api/client.ts';
import { option } from '../../../parts/command-text.ts';
import type { ParsedJson } from '../../../parts/json-view/json-text.ts';

export type ResolveBody = Answer<'ResolveBody'>;
export type ResolutionName = ResolveBody['outcome'];
/**
 * The question about an effect. `doubt`: it is unknown whether it took place. `left`: the same, and the run has ended, so it
 * calls nothing more. `repetition`: it took place in an earlier run, and would be repeated. `confirmation`: it was not called
 * yet, and needs consent. `external…`: it belongs to a function without a run; the answer applies to its next call.
 */
export type AskedOfEffect =
  | 'doubt'
  | 'left'
  | 'repetition'
  | 'confirmation'
  | 'external_doubt'
  | 'external_confirmation';

interface ResolutionChoice {
  readonly outcome: ResolutionName;
  readonly verb: string;
  readonly meaning: string;
  /** Text shown after it was sent. */
  readonly done: string;
  readonly isDanger?: boolean;
}

export const RESOLUTION_CHOICES: Readonly<Record<AskedOfEffect, readonly ResolutionChoice[]>> = {
  doubt: [
    {
      outcome: 'recorded',
      verb: 'Record the result',
      meaning: 'It took place. Give the response of the receiver.',
      done: 'Recorded. The run continues with this result.',
    },
    {
      outcome: 're-execute',
      verb: 'Call again',
      meaning: 'It did not take place, or may happen twice.',
      done: 'The call is made again.',
    },
    {
      outcome: 'failed',
      verb: 'Mark as failed',
      meaning: 'It did not take place and must not.',
      done: 'Marked as failed. The step fails.',
      isDanger: true,
    },
  ],
  left: [
    {
      outcome: 'recorded',
      verb: 'Record the result',
      meaning: 'It took place. Give the response of the receiver. Runs made from this one reuse it.',
      done: 'Recorded. Runs made from this one reuse the result.',
    },
    {
      outcome: 'failed',
      verb: 'Mark as failed',
      meaning: 'It did not take place. Runs made from this one may call it.',
      done: 'Marked as failed. Runs made from this one may make the call.',
    },
  ],
  confirmation: [
    {
      outcome: 're-execute',
      verb: 'Allow the call',
      meaning: 'The receiver is called with this request.',
      done: 'Allowed. The call is made.',
    },
    {
      outcome: 'recorded',
      verb: 'Record the result',
      meaning: 'It was done by hand. Give the result. The receiver is not called.',
      done: 'Recorded. The receiver is not called.',
    },
    {
      outcome: 'failed',
      verb: 'Fail the step',
      meaning: 'It must not be done.',
      done: 'The step fails.',
      isDanger: true,
    },
  ],
  external_doubt: [
    {
      outcome: 'recorded',
      verb: 'Record the result',
      meaning: 'It took place. Give the response of the receiver.',
      done: 'Recorded. The caller gets this result.',
    },
    {
      outcome: 're-execute',
      verb: 'Call again',
      meaning: 'It did not take place, or may happen twice. The caller may call once more.',
      done: 'Allowed. The caller may call once more.',
    },
    {
      outcome: 'failed',
      verb: 'Mark as failed',
      meaning: 'It did not take place and must not. The caller is refused.',
      done: 'Marked as failed. The caller is refused.',
      isDanger: true,
    },
  ],
  external_confirmation: [
    {
      outcome: 're-execute',
      verb: 'Allow the call',
      meaning: 'The caller may call the receiver with this request.',
      done: 'Allowed. The caller may make the call.',
    },
    {
      outcome: 'recorded',
      verb: 'Record the result',
      meaning: 'It was done by hand. Give the result. The receiver is not called.',
      done: 'Recorded. The caller gets this result.',
    },
    {
      outcome: 'failed',
      verb: 'Forbid the call',
      meaning: 'It must not be done. The caller is refused.',
      done: 'Forbidden. The caller is refused.',
      isDanger: true,
    },
  ],
  repetition: [
    {
      outcome: 'recorded',
      verb: 'Use the recorded result',
      meaning: 'It is not done again. The step continues with the recorded response.',
      done: 'The step continues with the recorded response.',
    },
    {
      outcome: 're-execute',
      verb: 'Do it again',
      meaning: 'The receiver is called again.',
      done: 'The call is made again.',
    },
    {
      outcome: 'failed',
      verb: 'Fail the step',
      meaning: 'The step fails.',
      done: 'The step fails.',
      isDanger: true,
    },
  ],
};

/** @param caller `ended`: a run that has ended. `function`: there is no run. */
export function askedOfEffect(by: Answer<'Effect'>['blockedBy'], caller: EffectCaller): AskedOfEffect {
  const isToConfirm = by === 'confirmation';
  if (caller === 'function') return isToConfirm ? 'external_confirmation' : 'external_doubt';
  if (by === 'policy') return 'repetition';
  if (isToConfirm) return 'confirmation';
  return caller === 'ended' ? 'left' : 'doubt';
}

export type EffectCaller = 'run' | 'ended' | 'function';

/** True if this resolution carries the response of the receiver. */
export function takesResult(asked: AskedOfEffect, outcome: ResolutionName): boolean {
  return asked !== 'repetition' && outcome === 'recorded';
}

interface FilledResolution {
  readonly asked: AskedOfEffect;
  readonly outcome: ResolutionName;
  readonly result: ParsedJson;
  readonly note: string;
}

/** Undefined while the result is missing or not JSON. The API would record a missing one as null, which is rarely the answer. */
export function resolveBody({ asked, outcome, result, note }: FilledResolution): ResolveBody | undefined {
  const why = note.trim() === '' ? {} : { note };
  if (!takesResult(asked, outcome)) return { outcome, ...why };
  return result.kind === 'value' ? { outcome, result: result.value, ...why } : undefined;
}

/** The reason why the form cannot be sent yet. */
export function lackOfResolution({
  asked,
  outcome,
  result,
}: Omit<FilledResolution, 'note'>): string | undefined {
  if (!takesResult(asked, outcome) || result.kind === 'value') return undefined;
  return result.kind === 'nothing' ? 'The result is required.' : 'The result is not JSON.';
}

/** The same for the command line. */
export function resolveCli(runId: string, effectId: string, body: ResolveBody): readonly string[] {
  const { outcome, result, note } = body;
  return [
    ...['effects', 'resolve', runId, effectId, outcome],
    ...option('result', result === undefined ? undefined : JSON.stringify(result)),
    ...option('note', note),
  ];
}
