/**
 * The reference: predicts the end of a program by going through its steps once, one after the other. Knows nothing of journals,
 * drives, crashes or time. If the order of events leaves the end open (one step fails while another halts the run), it returns
 * every correct end.
 *
 * Must not: share code with the engine.
 */
import {
  type Behaviour,
  type BodyPlan,
  type ChildPlan,
  type MapPlan,
  type PlainPlan,
  type Program,
  type ProgramInput,
  type StepPlan,
  withFollowers,
} from './program.ts';
import {
  ADDED,
  approvalData,
  bodyValue,
  childInput,
  eventData,
  isOdd,
  replacement,
  returned,
  seen,
} from './values.ts';

/** `never`: the run ends, or stays blocked, before the step. */
export type Outcome = 'succeeded' | 'degraded' | 'skipped' | 'failed' | 'never';
export type BadEnd = 'failed' | 'halted' | 'denied';
export type End = 'completed' | BadEnd;

export interface Fate {
  readonly outcome: Outcome;
  readonly output: unknown;
  /** End of the run caused by the step. */
  readonly ends?: BadEnd;
  /** Outcome of each item, if started. */
  readonly items?: readonly ('succeeded' | 'failed')[];
}

export type Fates = ReadonlyMap<string, Fate>;

export interface Prediction {
  readonly ends: ReadonlySet<End>;
  /** Fates before and after a person sent steps back; only one element if nobody does. */
  readonly passes: readonly Fates[];
  /** Result of a completed run. */
  readonly result: Readonly<Record<string, unknown>>;
}

/** Losses of workers of a run and of its children, which the program does not determine. */
export interface Family {
  /** The run was ended because its workers died. */
  readonly isLost: boolean;
  /** Runs of each child step or item, by its key; if a person sent the step back, several, the oldest first. */
  readonly children: ReadonlyMap<string, readonly Family[]>;
}

const UNHARMED: Family = { isLost: false, children: new Map() };

export function predict(program: Program, input: ProgramInput, family = UNHARMED): Prediction {
  if (program.policy === 'deny') return { ends: new Set(['denied']), passes: [new Map()], result: {} };
  const reviewer = program.steps.find((plan) => plan.kind === 'approval' && plan.sendsBack.length > 0);
  const answers = interpret({
    program,
    input,
    family,
    undecided: reviewer?.id,
    again: new Set(),
    feedback: '',
  });
  if (reviewer?.kind !== 'approval' || !answers.reached) return summary(program, [answers.fates]);
  const again = withFollowers(program, reviewer.sendsBack);
  const decided = interpret({
    program,
    input,
    family,
    undecided: undefined,
    again,
    feedback: feedbackOf(reviewer.id),
  });
  return summary(program, [answers.fates, decided.fates]);
}

export function feedbackOf(approval: string): string {
  return `again, says ${approval}`;
}

/** End of a body after all attempts of its plan. */
export function bodyOutcome(plan: BodyPlan): 'succeeded' | 'degraded' | 'failed' {
  switch (lastBehaviour(plan)) {
    case 'ok':
    case 'large':
      return 'succeeded';
    case 'degraded':
      return 'degraded';
    default:
      return 'failed';
  }
}

/** Behaviour of the body at the deciding attempt. */
function lastBehaviour({ attempts, maxAttempts }: BodyPlan): Behaviour {
  const tried = Array.from(
    { length: maxAttempts },
    (_, i) => attempts[Math.min(i, attempts.length - 1)] ?? 'ok',
  );
  return tried.find((behaviour) => behaviour !== 'throw' && behaviour !== 'hang') ?? 'throw';
}

function summary(program: Program, passes: readonly Fates[]): Prediction {
  const last = passes.at(-1) as Fates;
  const ends = new Set<End>(passes.flatMap((fates) => [...fates.values()].flatMap(({ ends }) => ends ?? [])));
  if (![...last.values()].some((fate) => fate.ends)) ends.add('completed');
  const result = program.result.map((id) => [id, last.get(id)?.output ?? null]);
  return { ends, passes, result: Object.fromEntries(result) };
}

interface Pass {
  readonly program: Program;
  readonly input: ProgramInput;
  readonly family: Family;
  /** The approval whose answer is still open. */
  readonly undecided: string | undefined;
  readonly again: ReadonlySet<string>;
  readonly feedback: string;
}

interface Sight {
  readonly input: ProgramInput;
  readonly needs: readonly unknown[];
  readonly feedback: string | undefined;
  /** The child of that key, in this pass. */
  readonly childOf: (key: string) => Family | undefined;
}

function interpret({ program, input, family, undecided, again, feedback }: Pass): {
  fates: Fates;
  reached: boolean;
} {
  const fates = new Map<string, Fate>();
  const plans = new Map(program.steps.map((plan) => [plan.id, plan]));
  // A child that was not sent back is the same run in both passes.
  const childOf = (key: string) => family.children.get(key)?.at(again.size === 0 ? 0 : -1);
  let reached = false;
  for (const plan of program.steps) {
    const needed = plan.needs.map((id) => fates.get(id) as Fate);
    const needs = plan.needs.map((id, i) => seen(plans.get(id) as StepPlan, needed[i]?.output));
    let fate: Fate;
    if (plan.ifSkipped === 'skip' && needed.some(({ outcome }) => outcome === 'skipped')) fate = SKIPPED;
    else if (needed.some(({ outcome }) => outcome === 'never' || outcome === 'failed')) fate = NEVER;
    else if (plan.when === 'never' || (plan.when === 'odd' && !isOdd(plan, needs))) fate = SKIPPED;
    else if (plan.id === undecided) {
      reached = true;
      fate = NEVER;
    } else
      fate = predictedEnd(plan, {
        input,
        needs,
        childOf,
        feedback: again.has(plan.id) ? feedback : undefined,
      });
    fates.set(plan.id, fate);
  }
  return { fates, reached };
}

const SKIPPED: Fate = { outcome: 'skipped', output: null };
const NEVER: Fate = { outcome: 'never', output: null };
const HALTED: Fate = { outcome: 'never', output: null, ends: 'halted' };

function predictedEnd(plan: StepPlan, sight: Sight): Fate {
  switch (plan.kind) {
    case 'step':
      return plainFate(plan, sight);
    case 'map':
      return mapFate(plan, sight);
    case 'child':
      return childFate(plan, sight);
    case 'sleep':
      return { outcome: 'succeeded', output: null };
    case 'event':
      if (plan.delivery === 'never' || plan.delivery === 'late' || plan.delivery === 'failed')
        return failure(plan);
      return { outcome: 'succeeded', output: eventData(plan, sight.input) };
    case 'approval': {
      const answer = plan.answer === 'nobody' ? plan.onExpiry : plan.answer;
      if (answer === 'halt') return HALTED;
      if (answer === 'reject' || answer === 'fail') return failure(plan);
      const data = plan.data ? { data: { ...approvalData(plan, sight.input), ...ADDED } } : {};
      if (answer === 'approve') return { outcome: 'succeeded', output: { decision: answer, ...data } };
      return { outcome: 'succeeded', output: { decision: answer, note: waiverOf(plan.id), ...data } };
    }
  }
}

export function waiverOf(approval: string): string {
  return `${approval} may pass`;
}

function plainFate(plan: PlainPlan, sight: Sight): Fate {
  if (plan.policy === 'deny') return { outcome: 'never', output: null, ends: 'denied' };
  const outcome = bodyOutcome(plan.body);
  if (outcome === 'failed') return failure(plan);
  const output = returned(lastBehaviour(plan.body), bodyValue(plan, sight.input, sight));
  return { outcome, output };
}

function mapFate(plan: MapPlan, sight: Sight): Fate {
  const items = plan.items.map((item) => (bodyOutcome(item) === 'succeeded' ? 'succeeded' : 'failed'));
  if (!isEnough(plan, items)) return { ...failure(plan), items };
  const output = plan.items.map((item, index) => {
    const value = bodyValue(plan, sight.input, { ...sight, index });
    return items[index] === 'succeeded' ? returned(lastBehaviour(item), value) : null;
  });
  return { outcome: 'succeeded', output, items };
}

function childFate(plan: ChildPlan, { input, needs, childOf }: Sight): Fate {
  const children = Array.from({ length: plan.copies ?? 1 }, (_, index) => {
    const family = childOf(plan.copies === undefined ? plan.id : `${plan.id}[${index}]`);
    const { ends, result } = predict(plan.program, childInput(plan, input, needs, index), family);
    return { completes: ends.has('completed') && !family?.isLost, result };
  });
  const items = children.map(({ completes }) => (completes ? 'succeeded' : 'failed'));
  const results = children.map(({ completes, result }) => (completes ? result : null));
  if (plan.copies === undefined) {
    return items[0] === 'succeeded' ? { outcome: 'succeeded', output: results[0] } : failure(plan);
  }
  if (!isEnough(plan, items)) return { ...failure(plan), items };
  return { outcome: 'succeeded', output: results, items };
}

/** Returns true if these successes complete the map step. */
function isEnough({ completion }: MapPlan | ChildPlan, items: readonly string[]): boolean {
  const failed = items.filter((item) => item === 'failed').length;
  if (!completion) return failed === 0;
  if ('atLeast' in completion) return items.length - failed >= completion.atLeast;
  if ('tolerate' in completion) return failed <= completion.tolerate;
  return failed * 100 <= items.length * completion.share;
}

/** Fate of a step after its final failure. */
export function failure(plan: StepPlan): Fate {
  if (plan.onFailure === 'skip') return SKIPPED;
  if (plan.onFailure === 'degrade') return { outcome: 'degraded', output: replacement(plan) };
  return { outcome: 'failed', output: null, ends: 'failed' };
}
