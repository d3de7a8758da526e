/**
 * The answers to a question of a run: meaning, required fields and request. Pure. The API decides what it
 * refuses (`operations/approvals`); this module only prevents incomplete forms.
 */
import type { Answer } from '../../../api/client.ts';
import { option } from '../../../parts/command-text.ts';
import { duration } from '../../../parts/time.ts';

export type DecisionBody = Answer<'DecisionBody'>;
export type DecisionName = DecisionBody['decision'];
/** `doubt`: a step was running when its worker died. `budget`: the run has reached its budget. */
export type AskedKind = 'approval' | 'doubt' | 'budget';

export interface Choice {
  readonly decision: DecisionName;
  /** Text of the button. */
  readonly verb: string;
  readonly meaning: string;
  /** Text shown after it was sent. */
  readonly done: string;
  readonly isDanger?: boolean;
}

const HALT = {
  decision: 'halt',
  verb: 'Halt the run',
  meaning: 'The run is cancelled.',
  done: 'Halted. The run is cancelled.',
  isDanger: true,
} as const;

export const CHOICES: Readonly<Record<AskedKind, readonly Choice[]>> = {
  approval: [
    {
      decision: 'approve',
      verb: 'Approve',
      meaning: 'The run continues.',
      done: 'Approved. The run continues.',
    },
    {
      decision: 'approve_with_waiver',
      verb: 'Approve with a waiver',
      meaning: 'The run continues with an exception. The note states it and is recorded.',
      done: 'Approved with a waiver. The run continues.',
    },
    {
      decision: 'retry_with_feedback',
      verb: 'Send back',
      meaning: 'Earlier steps run again with your feedback; then it asks again.',
      done: 'Sent back. Earlier steps run again with your feedback; then it asks again.',
    },
    {
      decision: 'reject',
      verb: 'Reject',
      meaning: 'The step fails. The workflow decides what follows.',
      done: 'Rejected. The step fails, and the workflow decides what follows.',
      isDanger: true,
    },
    {
      decision: 'halt',
      verb: 'Halt the run',
      meaning: 'The run is cancelled, and completed steps are undone where possible.',
      done: 'Halted. The run is cancelled, and completed steps are undone where possible.',
      isDanger: true,
    },
  ],
  doubt: [
    {
      decision: 'approve',
      verb: 'Run it again',
      meaning: 'It did not act, or may act twice.',
      done: 'The step runs again.',
    },
    {
      decision: 'approve_with_waiver',
      verb: 'Treat as done',
      meaning: 'It did its work, without an output. The note gives the evidence and is recorded.',
      done: 'Treated as done. The run continues.',
    },
    {
      decision: 'reject',
      verb: 'Mark as failed',
      meaning: 'The step fails.',
      done: 'Marked as failed. The step fails.',
      isDanger: true,
    },
    HALT,
  ],
  budget: [
    {
      decision: 'approve',
      verb: 'Raise the budget',
      meaning: 'Without amounts, each limit that was reached is raised by what the workflow declares.',
      done: 'The budget is raised. The run continues.',
    },
    {
      decision: 'reject',
      verb: 'Fail the step',
      meaning: 'The workflow decides what follows.',
      done: 'The step fails, and the workflow decides what follows.',
      isDanger: true,
    },
    HALT,
  ],
};

/** The reason why a form cannot be sent: its question disappeared after it was opened. */
export const NOT_OPEN =
  'The question is not open any more: it was answered, its time is over, or the run has ended.';

interface KnownAnswers {
  /** Question as the run has it. */
  readonly detail?: unknown;
  /** Steps that can be sent back. */
  readonly before?: readonly string[] | undefined;
  /** Answers that the API accepts. */
  readonly accepted?: readonly string[] | undefined;
}

export function choicesOf(asked: AskedKind, { detail, before, accepted }: KnownAnswers): readonly Choice[] {
  const choices = asked === 'budget' ? budgetChoices(budgetIn(detail)) : CHOICES[asked];
  return choices.filter(
    ({ decision }) =>
      (accepted?.includes(decision) ?? true) && (decision !== 'retry_with_feedback' || before?.length !== 0),
  );
}

function budgetChoices(budget: AskedBudget): readonly Choice[] {
  const isOfDay = budget.day !== undefined;
  const by = raiseText(budget.raise ?? {});
  return CHOICES.budget.map((one) => {
    const choice = isOfDay ? { ...one, ...OF_DAY[one.decision] } : one;
    if (choice.decision !== 'approve' || by === '') return choice;
    const whose = isOfDay ? `${OF_ALL_RUNS} ` : '';
    // Only the first answer raises the limit of a day, about which many runs may ask.
    const unless = isOfDay ? ', unless the limit was raised since the question' : '';
    return { ...choice, meaning: `${whose}Without amounts, it is raised by ${by}${unless}.` };
  });
}

/** Up to six decimals, for millionths of money. */
export const amountText = (amount = 0): string => amount.toLocaleString('en', { maximumFractionDigits: 6 });

/** The amounts in words: `3 US dollars and 2h of time`. */
function raiseText({ wallClockMs, ...amounts }: NonNullable<AskedBudget['raise']>): string {
  const counted = namedLimits(amounts).map(([limit, name]) => {
    const amount = amountText(amounts[limit]);
    const word = limit === 'usd' ? name : name.toLowerCase();
    // Names of limits are plurals in -s.
    return `${amount} ${amounts[limit] === 1 ? word.slice(0, -1) : word}`;
  });
  const words = wallClockMs === undefined ? counted : [...counted, `${duration(wallClockMs)} of time`];
  return words.join(' and ');
}

interface AskedBudget {
  /** Day whose budget it is; absent: it is the run's own budget. */
  readonly day?: string;
  readonly limits?: Readonly<Record<string, number>>;
  /** Raise of an approval without amounts; absent in questions of an earlier version. */
  readonly raise?: Readonly<Partial<Record<(typeof COUNTED)[number][0] | 'wallClockMs', number>>>;
}

/** The budget that a question is about; empty where the question is shown in part. */
function budgetIn(detail: unknown): AskedBudget {
  return (Object(detail) as { readonly budget?: AskedBudget }).budget ?? {};
}

/** The limits that an approval can raise: the API refuses others. */
export function raisableIn(detail: unknown): readonly (typeof RAISES)[number][] {
  const { limits } = budgetIn(detail);
  if (!limits) return RAISES;
  return RAISES.filter(([limit]) => limits[limit === 'wallClock' ? 'wallClockMs' : limit] !== undefined);
}

const OF_ALL_RUNS = 'For all runs of the tenant until midnight UTC.';

/** Texts that differ for the budget of a day. */
const OF_DAY: Partial<Record<DecisionName, Partial<Choice>>> = {
  approve: {
    verb: 'Raise the budget of the day',
    meaning: `${OF_ALL_RUNS} Without amounts, each limit that was reached is raised by what the installation sets.`,
    done: 'The budget of the day is raised. The runs that asked continue.',
  },
};

export function askedBy(purpose: string | undefined): AskedKind {
  return purpose === 'doubt' || purpose === 'budget' ? purpose : 'approval';
}

/** Name of the act that answers such a question: on its button, and over its form. */
export function actName(asked: AskedKind, step: string): string {
  if (asked === 'budget') return 'Decide about the budget';
  return asked === 'doubt' ? `Decide about ${step}` : `Answer ${step}`;
}

/** Words before the due time of the question. A question about the budget of a day ends by itself on the next day. */
export function dueWords(asked: AskedKind): string {
  return asked === 'budget' ? 'continues by itself' : 'times out';
}

/** Limits that are counted: those of the budget of a day. */
const COUNTED = [
  ['usd', 'US dollars'],
  ['tokens', 'Tokens'],
  ['effects', 'Effects'],
  ['operations', 'Operations'],
] as const;

/** Returns the limits that the amounts contain, with their names. */
export function namedLimits(
  amounts: Partial<Record<(typeof COUNTED)[number][0], number | undefined>>,
): readonly (typeof COUNTED)[number][] {
  return COUNTED.filter(([limit]) => amounts[limit] !== undefined);
}

/** Limits of a budget, as the form names them. `wallClock` is a duration such as 2h; the others are numbers. */
const RAISES = [...COUNTED, ['wallClock', 'Time, for example 2h']] as const;

type RaisedAmounts = Partial<Record<(typeof RAISES)[number][0], string>>;

/** Values of the form. */
export interface Filled {
  readonly decision: DecisionName;
  readonly note: string;
  readonly feedback: string;
  /** Steps to run again; empty: those that the approval needs. */
  readonly steps: readonly string[];
  /** Amounts as typed; empty: what the workflow declares. */
  readonly raise: RaisedAmounts;
}

export const UNFILLED: Filled = { decision: 'approve', note: '', feedback: '', steps: [], raise: {} };

/** Text about what is missing in the form; undefined: it can be sent. */
export function lacking({ decision, note, feedback, raise }: Filled): string | undefined {
  if (decision === 'approve_with_waiver' && note.trim() === '') return 'A waiver needs a note.';
  if (decision === 'retry_with_feedback' && feedback.trim() === '') return 'Give feedback for the steps.';
  const wrong = RAISES.find(([limit]) => limit !== 'wallClock' && Number.isNaN(Number(raise[limit] ?? '')));
  if (decision === 'approve' && wrong) return `${wrong[1]}: give a number.`;
  return undefined;
}

/** True if the decision carries the data that an approval takes. */
export function carriesData(decision: DecisionName): boolean {
  return decision === 'approve' || decision === 'approve_with_waiver';
}

/**
 * @param waitId prevents the answer from reaching a newer question of the step
 * @param data what the approval takes; undefined: nothing
 */
export function bodyOfDecision(
  { decision, note, feedback, steps, raise }: Filled,
  waitId: string,
  data?: unknown,
): DecisionBody {
  if (decision === 'retry_with_feedback')
    return { decision, waitId, feedback, steps: steps.length === 0 ? undefined : [...steps] };
  const decisionBody = { decision, waitId, note: note.trim() === '' ? undefined : note };
  const body = data !== undefined && carriesData(decision) ? { ...decisionBody, data } : decisionBody;
  return decision === 'approve' ? { ...body, raise: raiseOf(raise) } : body;
}

function raiseOf(raise: RaisedAmounts): DecisionBody['raise'] {
  const amounts = RAISES.flatMap(([limit]) => {
    const typed = raise[limit]?.trim() ?? '';
    return typed === '' ? [] : [[limit, limit === 'wallClock' ? typed : Number(typed)] as const];
  });
  return amounts.length === 0 ? undefined : Object.fromEntries(amounts);
}

const WORDS: Readonly<Record<DecisionName, string>> = {
  approve: 'approve',
  approve_with_waiver: 'waive',
  retry_with_feedback: 'send-back',
  reject: 'reject',
  halt: 'halt',
};

/** The same for the command line. */
export function cliOf(runId: string, step: string, body: DecisionBody): readonly string[] {
  const { decision, waitId, note, feedback, steps = [], raise = {}, data } = body;
  return [
    ...['runs', WORDS[decision], runId, step],
    ...option('note', note),
    ...option('feedback', feedback),
    ...steps.flatMap((id) => option('again', id)),
    ...Object.entries(raise).flatMap(([limit, amount]) => option('raise', `${limit}=${amount}`)),
    ...option('data', data === undefined ? undefined : JSON.stringify(data)),
    ...option('wait', waitId),
  ];
}

interface NeedingStep {
  readonly id: string;
  readonly needs: readonly string[];
}

/** The steps that a step follows, in the order of the plan: those that an approval can send back. */
export function stepsBefore(nodes: readonly NeedingStep[], step: string): readonly string[] {
  const needs = new Map(nodes.map((node) => [node.id, node.needs]));
  const before = new Set<string>();
  const ahead = [...(needs.get(step) ?? [])];
  for (let id = ahead.pop(); id !== undefined; id = ahead.pop()) {
    if (before.has(id)) continue;
    before.add(id);
    ahead.push(...(needs.get(id) ?? []));
  }
  return nodes.map(({ id }) => id).filter((id) => before.has(id));
}

/** The question as text, and its details. */
export function questionOf(detail: unknown): {
  readonly text: string;
  readonly beside?: unknown;
  /** Names of those who are asked. */
  readonly to?: readonly string[];
} {
  if (detail === undefined || detail === null) return { text: '(no question)' };
  if (typeof detail === 'string') return { text: detail };
  if (typeof detail !== 'object' || Array.isArray(detail)) return { text: 'Question:', beside: detail };
  const { question, to: named, ...beside } = detail as { readonly question?: unknown; readonly to?: unknown };
  const to = Array.isArray(named) ? { to: named.map(String) } : {};
  if (typeof question !== 'string') return { text: 'Question:', beside: detail };
  const members = Object.entries(beside);
  if (members.length === 0) return { text: question, ...to };
  const [[name, value] = []] = members;
  return { text: question, ...to, beside: members.length === 1 && name === 'details' ? value : beside };
}
