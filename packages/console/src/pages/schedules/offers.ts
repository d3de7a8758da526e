/** Actions that a schedule offers, as the API accepts them. Pure. */
import type { Answer } from '../../api/client.ts';

export type ScheduleAct = 'pause' | 'resume' | 'trigger' | 'backfill' | 'change' | 'delete';

interface ScheduleOffer {
  readonly act: ScheduleAct;
  readonly name: string;
  readonly className?: string | undefined;
  /** The reason why the API would refuse it. */
  readonly unless?: string | undefined;
}

/** The next deployment would undo a change. */
const DECLARED = 'declared by a workflow: change it there';
const WITHDRAWN = 'its workflow no longer declares it';

export function scheduleOffers({
  origin,
  state,
}: Pick<Answer<'Schedule'>, 'origin' | 'state'>): readonly ScheduleOffer[] {
  const isDeclared = origin === 'declared';
  const withdrawn = state === 'withdrawn' ? WITHDRAWN : undefined;
  const halting: ScheduleOffer =
    state === 'paused'
      ? { act: 'resume', name: 'Resume' }
      : { act: 'pause', name: 'Pause', unless: withdrawn };
  return [
    halting,
    { act: 'trigger', name: 'Trigger' },
    { act: 'backfill', name: 'Backfill' },
    { act: 'change', name: 'Change', unless: isDeclared ? (withdrawn ?? DECLARED) : undefined },
    {
      act: 'delete',
      name: 'Delete',
      className: 'quiet-danger',
      // A paused one may have been withdrawn since, which only the API knows.
      unless: isDeclared && state === 'active' ? DECLARED : undefined,
    },
  ];
}
