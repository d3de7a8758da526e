/**
 * The people and systems outside: they watch the questions of runs and answer as their program says, in their own time,
 * sometimes twice or too late.
 *
 * Must not: know how an answer reaches a run.
 */
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';
import type { Wait } from '../../../packages/cairn/src/core/run/events.ts';
import { isOver, type RunState } from '../../../packages/cairn/src/core/run/state.ts';
import type { MemoryDatabase, RunDocuments } from '../../../packages/cairn/src/memory/memory-database.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import type { DecideRequest } from '../../../packages/cairn/src/operations/approvals/request.ts';
import { deliverEvent } from '../../../packages/cairn/src/operations/events/deliver-event.ts';
import { failWait } from '../../../packages/cairn/src/operations/events/fail-wait.ts';
import { signalRun } from '../../../packages/cairn/src/operations/events/signal-run.ts';
import type { Draw } from '../data/draw.ts';
import { feedbackOf, waiverOf } from '../data/predict.ts';
import {
  type ApprovalPlan,
  type EventPlan,
  type Program,
  type ProgramInput,
  type StepPlan,
  withFollowers,
} from '../data/program.ts';
import { approvalData, eventData, eventKey } from '../data/values.ts';
import type { Cluster, Job } from './cluster.ts';

export interface Outside {
  readonly cluster: Cluster;
  readonly db: MemoryDatabase;
  readonly draw: Draw;
  readonly programs: ReadonlyMap<string, Program>;
  readonly tenantId: string;
}

const MINUTE = 60_000;
/** Time after a deadline, by every clock. */
const TOO_LATE_MS = 10 * MINUTE;
/** Time before a buffered event expires, by every clock. */
const STILL_KEPT_MS = 23 * 60 * MINUTE;
const REPEATS = 0.2;
/** Prefix of the id under which a journal records that a wait was failed from outside. */
export const FAILS = 'fail';

/** Absent: nothing is filled in. */
const WRONG_DATA = [undefined, {}, { said: 'much' }, { said: 1, added: null }];

/** Refusals because an answer came too late: after other answers, or after the end of the run. */
const TOO_LATE = new Set([
  'RUN_TERMINAL_STATE',
  'RUN_INVALID_TRANSITION',
  'APPROVAL_DECIDED',
  'APPROVAL_EXPIRED',
  'NOT_FOUND',
]);

export class People {
  readonly #outside: Outside;
  readonly #seen = new Set<string>();
  /** Times at which early events were sent, by run and step. */
  readonly #sentEarly = new Map<string, number>();

  constructor(outside: Outside) {
    this.#outside = outside;
  }

  /** Looks for open questions, and plans the answers. */
  look(): void {
    for (const [runId, run] of this.#outside.db.runs) {
      const program = this.#outside.programs.get(run.snapshot.type);
      if (!program || isOver(run.snapshot)) continue;
      if (this.#isNew(runId)) this.#begin(run, program);
      for (const wait of run.snapshot.waits) {
        if (wait.kind !== 'approval' && wait.kind !== 'event') continue;
        if (this.#isNew(`${runId} ${wait.id} ${wait.openedAt}`))
          this.#answer(run, wait, planOf(program, wait));
      }
    }
  }

  #isNew(name: string): boolean {
    if (this.#seen.has(name)) return false;
    this.#seen.add(name);
    return true;
  }

  #begin({ snapshot }: RunDocuments, program: Program): void {
    for (const plan of program.steps) {
      if (plan.kind !== 'event' || !plan.delivery.startsWith('early')) continue;
      this.#sentEarly.set(`${snapshot.id} ${plan.id}`, this.#now);
      this.#send(snapshot, plan, { eventId: `early ${snapshot.id} ${plan.id}`, at: this.#now });
    }
  }

  #answer(run: RunDocuments, wait: Wait, plan: StepPlan): void {
    if (wait.purpose === 'doubt') {
      this.#decide(run, { waitId: wait.id, stepId: wait.execution.stepId, decision: 'approve' }, this.#soon);
    } else if (plan.kind === 'approval') this.#answerApproval(run, wait, plan);
    else if (plan.kind === 'event') this.#answerEvent(run, wait, plan);
  }

  #answerApproval(run: RunDocuments, wait: Wait, plan: ApprovalPlan): void {
    const question = { waitId: wait.id, stepId: plan.id };
    const isSentBack = run.events.some(({ type }) => type === 'feedback_given');
    if (plan.sendsBack.length > 0 && !isSentBack) {
      const feedback = feedbackOf(plan.id);
      const decision = 'retry_with_feedback';
      this.#decide(run, { ...question, decision, feedback, steps: plan.sendsBack }, this.#soon);
    } else if (plan.answer === 'nobody') {
      const at = (wait.dueAt ?? 0) + TOO_LATE_MS + this.#outside.draw.below(MINUTE);
      if (this.#outside.draw.chance(0.5)) this.#decide(run, { ...question, decision: 'reject' }, at);
    } else {
      const note = plan.answer === 'approve_with_waiver' ? { note: waiverOf(plan.id) } : {};
      const approves = plan.answer === 'approve' || plan.answer === 'approve_with_waiver';
      const data = plan.data && approves ? { data: approvalData(plan, inputOf(run.snapshot)) } : {};
      this.#decide(run, { ...question, decision: plan.answer, ...note, ...data }, this.#soon);
    }
  }

  #answerEvent({ snapshot }: RunDocuments, wait: Wait, plan: EventPlan): void {
    const eventId = `${snapshot.id} ${wait.id}`;
    const sentAt = this.#sentEarly.get(`${snapshot.id} ${plan.id}`);
    const isKept = plan.delivery === 'early_signal' || this.#now < (sentAt ?? 0) + STILL_KEPT_MS;
    const lies = sentAt !== undefined && isKept && wait.execution.revision === 1;
    // An answer that is too late for this question would be early for the next one.
    const tooEarly = plan.delivery === 'late' && this.#isSentBack(snapshot, plan);
    if (plan.delivery === 'never' || lies || tooEarly) return;
    if (plan.delivery === 'failed') {
      this.#fail(snapshot, wait, this.#soon);
      return;
    }
    const at = plan.delivery === 'late' ? (wait.dueAt ?? 0) + TOO_LATE_MS : this.#soon;
    this.#send(snapshot, plan, { eventId, at });
  }

  /** Returns true if the step, or a child that the run belongs to, may be asked again. */
  #isSentBack(state: RunState, { id }: StepPlan): boolean {
    const above = inputOf(state)
      .path.split('/')
      .map((part) => part.split('.')[0]);
    const sentBack = [...this.#outside.programs.values()].flatMap((program) => {
      const named = program.steps.flatMap((plan) => (plan.kind === 'approval' ? plan.sendsBack : []));
      return [...withFollowers(program, named)];
    });
    return sentBack.some((step) => step === id || above.includes(step));
  }

  #decide(
    { snapshot }: RunDocuments,
    answer: Pick<DecideRequest, 'stepId' | 'waitId' | 'decision' | 'note' | 'feedback' | 'steps' | 'data'>,
    at: number,
  ): void {
    const { tenantId, draw, cluster } = this.#outside;
    const request = { runId: snapshot.id, tenantId, actor: `p${draw.below(9)}`, ...answer };
    cluster.plan(at, {
      label: `${answer.decision} ${answer.waitId}`,
      work: async (deps) => {
        if (answer.data !== undefined)
          for (const data of WRONG_DATA) await refused(decideApproval(deps, { ...request, data }));
        await unlessTooLate(decideApproval(deps, request));
        if (draw.chance(REPEATS)) await unlessTooLate(decideApproval(deps, { ...request, actor: 'p9' }));
      },
    });
  }

  #send(state: RunState, plan: EventPlan, { eventId, at }: { eventId: string; at: number }): void {
    const { tenantId, draw, cluster } = this.#outside;
    const input = inputOf(state);
    const sent = { tenantId, key: eventKey(plan, input), data: eventData(plan, input), actor: 's1' };
    const signal = { ...sent, runId: state.id, name: 'happened', signalId: eventId };
    const job: Job = {
      label: `send ${eventId}`,
      work: async (deps) => {
        // Until the run notices the end of the time, an event is not too late.
        if (plan.delivery === 'late' && this.#isAsked(state.id, plan)) {
          cluster.plan(this.#now + TOO_LATE_MS, job);
          return;
        }
        if (plan.delivery.endsWith('signal')) await unlessTooLate(signalRun(deps, signal));
        else await deliverEvent(deps, { ...sent, event: 'happened', eventId });
      },
    };
    cluster.plan(at, job);
    if (draw.chance(REPEATS)) cluster.plan(at + draw.below(30 * MINUTE), job);
  }

  #fail({ id: runId }: RunState, wait: Wait, at: number): void {
    const { tenantId, draw, cluster } = this.#outside;
    const { stepId } = wait.execution;
    const request = { runId, tenantId, stepId, reason: 'as planned', actor: 's1' };
    const work: Job['work'] = (deps) =>
      unlessTooLate(failWait(deps, { ...request, requestId: `${FAILS} ${runId} ${wait.id}` }));
    cluster.plan(at, { label: `fail ${wait.id}`, work });
    if (draw.chance(REPEATS)) cluster.plan(at + draw.below(30 * MINUTE), { label: `fail ${wait.id}`, work });
  }

  #isAsked(runId: string, { id }: StepPlan): boolean {
    const waits = this.#outside.db.runs.get(runId)?.snapshot.waits ?? [];
    return waits.some(({ execution }) => execution.stepId === id);
  }

  get #now(): number {
    return this.#outside.cluster.now;
  }

  /** A time long before any deadline. */
  get #soon(): number {
    const { draw } = this.#outside;
    return this.#now + (draw.chance(0.5) ? draw.below(2_000) : draw.below(120 * MINUTE));
  }
}

function planOf({ steps }: Program, { execution }: Wait): StepPlan {
  const plan = steps.find(({ id }) => id === execution.stepId);
  if (!plan) throw new Error(`no plan for '${execution.stepId}'`);
  return plan;
}

export function inputOf({ input }: RunState): ProgramInput {
  if (!('text' in input)) throw new Error('the input is not inline');
  return JSON.parse(input.text) as ProgramInput;
}

/** Expects a refusal, after which the question stays open. */
async function refused(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (error instanceof CairnError && (error.code === 'INVALID_INPUT' || TOO_LATE.has(error.code))) return;
    throw error;
  }
  throw new Error('data that does not fit was taken');
}

async function unlessTooLate(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof CairnError) || !TOO_LATE.has(error.code)) throw error;
  }
}
