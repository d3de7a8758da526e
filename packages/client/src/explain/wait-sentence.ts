/** Says in one sentence what a run waits for. Pure. */
import type { Answer } from 'cairn/api/calls';
import { stepKey } from '../step-key.ts';
import type { Explanation } from './explain-run.ts';

type Wait = Answer<'Run'>['waits'][number];

/** @param waits at least one */
export function waitSentence(waits: readonly Wait[]): Omit<Explanation, 'moves'> {
  // A wait for a person is named first, because other waits end by themselves; the budget holds up all of the run.
  const first =
    waits.find(({ purpose }) => purpose === 'budget') ??
    waits.find(({ kind }) => kind === 'approval') ??
    waits[0];
  if (!first) return { text: 'Waiting.' };
  const times = { since: first.openedAt, until: first.dueAt };
  if (first.purpose === 'budget') return { text: budgetText(first), ...times, waitId: first.id };
  const alike = waits.filter(({ kind }) => kind === first.kind).length;
  const others = waits.length - alike;
  const more = others === 0 ? '' : ` and ${others} other ${others === 1 ? 'wait' : 'waits'}`;
  if (alike > 1) return { text: `Waiting for ${alike} ${MANY[first.kind]}${more}.`, ...times };
  return { text: oneText(first, more), ...times, waitId: first.id };
}

function oneText({ execution, kind, purpose, name, key, child }: Wait, more: string): string {
  const step = stepKey(execution);
  if (purpose === 'doubt')
    return `Step ${step} was interrupted and may have acted. A person must decide how to continue.`;
  if (purpose === 'effect')
    return `An action of step ${step} is in doubt. A person must say whether it took place.`;
  switch (kind) {
    case 'approval':
      return `Waiting for approval at step ${step}${more}.`;
    case 'event':
      return `Waiting for event ${name ?? ''} for ${key ?? ''} at step ${step}${more}.`;
    case 'timer':
      return `Sleeping at step ${step}${more}.`;
    case 'child':
      return `Waiting for child run ${child?.runId ?? ''} of step ${step}${more}.`;
  }
}

/** The question names the limits and the step. */
function budgetText({ detail, execution }: Wait): string {
  const { question } = (detail ?? {}) as { readonly question?: unknown };
  return typeof question === 'string'
    ? question
    : `The run has reached its budget at step ${stepKey(execution)}. A person must decide how to continue.`;
}

const MANY: Readonly<Record<Wait['kind'], string>> = {
  approval: 'approvals',
  event: 'events',
  timer: 'timers',
  child: 'child runs',
};
