/** Describes open waits, for explanations, timelines, tables and pages. Pure. */
import type { Answer } from 'cairn/api/calls';
import { stepKey } from './step-key.ts';

type Wait = Answer<'Run'>['waits'][number];

/** The predicate of a waiting step, such as `waits for event paid for 42`. */
export function waitText({
  kind,
  purpose,
  day,
  name = '',
  key = '',
  child,
}: Pick<Wait, 'kind' | 'purpose' | 'day' | 'name' | 'key' | 'child'>): string {
  if (purpose === 'doubt') return 'was interrupted and may have acted: a person must decide how to continue';
  if (purpose === 'effect') return 'asks about a side effect: a person must answer';
  if (purpose === 'budget')
    return day === undefined
      ? 'waits because the run has reached its budget'
      : 'waits because the tenant has reached its budget of the day';
  switch (kind) {
    case 'approval':
      return 'waits for approval';
    case 'event':
      return `waits for event ${name} for ${key}`;
    case 'timer':
      return 'sleeps';
    case 'child':
      return `waits for child run ${child?.runId ?? ''}`;
    default:
      // From a newer version.
      return 'waits';
  }
}

/**
 * A wait with its step and its question, for one line.
 *
 * @param step its name in that line
 */
export function waitLine(
  wait: Omit<Wait, 'openedAt' | 'execution'> & { readonly execution: Pick<Wait['execution'], 'stepId'> },
  step = stepKey(wait.execution),
): string {
  const { kind, purpose, detail } = wait;
  // These questions name the step and the reason.
  if (purpose === 'budget' || (purpose === 'effect' && detail !== undefined)) return questionText(detail);
  const text = `${step} ${waitText(wait)}`;
  return kind === 'approval' && purpose !== 'doubt' && detail !== undefined
    ? `${text}: ${questionText(detail)}`
    : text;
}

/** The question of an approval. @param detail of the wait: the question, possibly with other members */
export function questionText(detail: unknown): string {
  if (detail === undefined || detail === null) return '(no question)';
  if (typeof detail === 'string') return detail;
  const { question } = detail as { readonly question?: unknown };
  return typeof question === 'string' ? question : JSON.stringify(question ?? detail);
}

interface WaitingText {
  readonly text: string;
  /** When the named wait began, and when it ends by itself, ISO. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Id of the named wait; undefined: several are counted. */
  readonly waitId?: string | undefined;
}

/** The open waits of a run in sentences. @param waits at least one */
export function waitingText(waits: readonly Wait[]): WaitingText {
  const first = firstWait(waits);
  if (!first) return { text: 'Waiting.' };
  const many = MANY[first.purpose ?? first.kind];
  const alike =
    many === undefined
      ? 1
      : waits.filter(({ kind, purpose }) => kind === first.kind && purpose === first.purpose).length;
  const others = waits.length - alike;
  const text =
    alike > 1 ? `Waiting for ${alike} ${many}.` : `Step ${stepKey(first.execution)} ${waitText(first)}.`;
  const more = others === 0 ? '' : ` ${others} other ${others === 1 ? 'wait is' : 'waits are'} open.`;
  return {
    text: `${text}${more}`,
    since: first.openedAt,
    until: first.dueAt,
    waitId: alike > 1 ? undefined : first.id,
  };
}

/** The wait that is named if several are open. */
export function firstWait(waits: readonly Wait[]): Wait | undefined {
  return peopleFirst(waits)[0];
}

/** The waits in the order in which they are shown. */
export function peopleFirst(waits: readonly Wait[]): readonly Wait[] {
  return waits.toSorted((a, b) => rank(a) - rank(b));
}

/** A wait for a person comes first, because other waits end by themselves. The budget comes before all: it stops the whole run. */
function rank({ kind, purpose }: Wait): number {
  if (purpose === 'budget') return 0;
  return kind === 'approval' ? 1 : 2;
}

/** Plurals by purpose, or by kind if there is none. Other waits are named one by one: budgets, and kinds of a newer version. */
const MANY: Readonly<Partial<Record<string, string>>> = {
  approval: 'approvals',
  doubt: 'decisions about interrupted steps',
  effect: 'answers about side effects',
  event: 'events',
  timer: 'timers',
  child: 'child runs',
};
