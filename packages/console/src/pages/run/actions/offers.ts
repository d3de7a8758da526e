/**
 * Actions on a run in its current state, the role of each, and the reason why one is disabled. Pure. The API decides; this
 * module predicts its refusals, so that nobody fills in a form that would be refused.
 */

import { isBackingOff, needsDecision, peopleFirst, stepKey, UNDECIDABLE } from '@cairn/client';
import { isFinal } from '../../../parts/run-status.ts';
import type { CallerRole } from '../../../session/session.ts';
import type { Run } from '../live/events.ts';
import { wordOf } from '../successors/request.ts';
import { actName, askedBy } from './decisions.ts';
import type { About, Act } from './use-act.ts';

export interface Offer {
  readonly act: Act;
  readonly about: About;
  readonly name: string;
  /** `answer`: the run waits for it. */
  readonly kind: 'answer' | 'plain' | 'danger';
  /** The reason why it cannot be done now. */
  readonly refused?: string;
}

/** Members of the run that the offers depend on. */
export type Standing = Pick<
  Run,
  | 'status'
  | 'waits'
  | 'cancellation'
  | 'suspension'
  | 'compensating'
  | 'parked'
  | 'blocked'
  | 'supersededBy'
  | 'lastHandoff'
  | 'failures'
  | 'lease'
  | 'dueAt'
>;

interface OfferContext {
  readonly run: Standing;
  may(role: CallerRole): boolean;
  /** Undefined: not known yet. */
  readonly isOnHold: boolean | undefined;
  /** The API would refuse decisions, because the version of the run is not deployed. */
  readonly isUndecidable: boolean;
  /** Id of the selected step, from which a fork is proposed. */
  readonly selectedStep?: string | undefined;
}

/** Least role of each act. */
export const NEEDS: Readonly<Record<Act, CallerRole>> = {
  decide: 'operator',
  resolve: 'operator',
  signal: 'submitter',
  fail: 'submitter',
  cancel: 'operator',
  suspend: 'operator',
  continue: 'operator',
  resume: 'operator',
  replay: 'operator',
  fork: 'operator',
  hold: 'admin',
  release: 'admin',
};

export function offersOf(context: OfferContext): readonly Offer[] {
  const { run, may, isOnHold, isUndecidable, selectedStep } = context;
  const offers = [
    ...answers(run, isUndecidable),
    ...steering(run),
    ...successors(run, selectedStep),
    ...keeping(isOnHold),
  ];
  return offers.map((offer) => {
    const needed = NEEDS[offer.act];
    return may(needed) ? offer : { ...offer, refused: requires(needed) };
  });
}

export function requires(role: CallerRole): string {
  return `This requires the role ${role}.`;
}

type Offers = readonly Offer[];

function answers(run: Standing, isUndecidable: boolean): Offers {
  const refused = run.cancellation
    ? { refused: 'The run is being cancelled.' }
    : run.compensating
      ? { refused: 'The run has failed and is undoing its steps.' }
      : {};
  return peopleFirst(run.waits).flatMap((wait): Offer[] => {
    const step = stepKey(wait.execution);
    const about = { wait: wait.id };
    if (wait.kind === 'event') {
      const name = `Send “${wait.name ?? 'event'}”`;
      return [
        { act: 'signal', about, name, kind: 'plain', ...refused },
        { act: 'fail', about, name: `Fail ${step}`, kind: 'danger', ...refused },
      ];
    }
    if (wait.kind !== 'approval') return [];
    if (wait.purpose === 'effect') {
      const { effectId = '' } = wait;
      const name = `Resolve the action of ${step}`;
      return [{ act: 'resolve', about: { effect: effectId }, name, kind: 'answer', ...refused }];
    }
    const name = actName(askedBy(wait.purpose), step);
    const undecidable = isUndecidable && needsDecision(wait) ? { refused: UNDECIDABLE } : {};
    return [{ act: 'decide', about, name, kind: 'answer', ...undecidable, ...refused }];
  });
}

function steering(run: Standing): Offers {
  if (isFinal(run.status)) return [];
  const cancellation = run.cancellation ? { refused: 'It was requested already.' } : {};
  return [
    { act: 'signal', about: {}, name: 'Signal', kind: 'plain' },
    run.suspension
      ? { act: 'continue', about: {}, name: 'Continue', kind: 'answer' }
      : { act: 'suspend', about: {}, name: 'Suspend', kind: 'plain', ...cancellation },
    { act: 'cancel', about: {}, name: 'Cancel', kind: 'danger', ...cancellation },
  ];
}

function successors(run: Standing, selectedStep: string | undefined): Offers {
  const { status, supersededBy } = run;
  const resume: Offer = { act: 'resume', about: {}, name: 'Resume', kind: 'plain' };
  if (!isFinal(status)) {
    if (run.suspension) return [];
    // A running run needs no resume, and a waiting run continues when it is answered.
    return status === 'interrupted' || isBlocked(run) || isBackingOff(run) ? [resume] : [];
  }
  const forkFrom = selectedStep === undefined ? {} : { from: wordOf({ step: selectedStep }) };
  const again: Offers = [
    { act: 'replay', about: {}, name: 'Replay', kind: 'plain' },
    { act: 'fork', about: forkFrom, name: 'Fork', kind: 'plain' },
  ];
  if (status === 'completed') return again;
  if (supersededBy === undefined)
    return [status === 'failed' ? { ...resume, kind: 'answer' } : resume, ...again];
  return [{ ...resume, refused: `It was resumed already, by ${supersededBy}.` }, ...again];
}

/** True if the run needs a dispatch, not an answer. */
function isBlocked({ status, parked, blocked, waits }: Standing): boolean {
  const isSuspended = status === 'awaiting_approval' || status === 'waiting_external';
  return isSuspended && (parked !== undefined || blocked !== undefined || waits.length === 0);
}

function keeping(isOnHold: boolean | undefined): Offers {
  if (isOnHold === undefined) return [];
  return isOnHold
    ? [{ act: 'release', about: {}, name: 'Release the hold', kind: 'plain' }]
    : [{ act: 'hold', about: {}, name: 'Legal hold', kind: 'plain' }];
}
