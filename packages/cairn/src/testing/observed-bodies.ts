/** Wraps the bodies under test: counts calls, tracks running ones, and lets the process die at one of them. */
import type { Context, FlowObserver, FlowStep, StepDefinition, Workflow } from '../engine/define/steps.ts';
import type { CrashPlan, Moment } from './world/crash-plan.ts';
import { never } from './world/intercept.ts';
import { anyWithin } from './world/real-time.ts';

/** The function of a step: its body, or its compensation. */
export type BodyPart = 'body' | 'compensate';

/** A moment at which the process dies, once. */
interface BodyCrash {
  /** Id of a step, which for a map means any of its items, or `id[3]` for one item. */
  readonly step: string;
  readonly part: BodyPart;
  readonly moment: Moment;
}

interface BodyUnderWay {
  readonly ended: Promise<void>;
  /** True if the body has used its share of real time, so that simulated time may advance. */
  waitedFor: boolean;
}

interface ObservedBodiesParams {
  /** Real time that one execution may take while simulated time does not advance. */
  readonly patienceMs: number;
  readonly onCrash: () => void;
  /** Points at which processes die. */
  readonly plan?: CrashPlan | undefined;
}

const NOTHING = () => undefined;

type ObservedBody = (context: Context) => unknown;

export class ObservedBodies {
  readonly #calls = new Map<string, number>();
  readonly #executions = new Map<string, number>();
  readonly #crashPoints = new Set<BodyCrash>();
  readonly #patienceMs: number;
  readonly #onCrash: () => void;
  readonly #plan: CrashPlan | undefined;
  #underWay = new Set<BodyUnderWay>();

  constructor({ patienceMs, onCrash, plan }: ObservedBodiesParams) {
    this.#patienceMs = patienceMs;
    this.#onCrash = onCrash;
    this.#plan = plan;
  }

  observe(workflow: Workflow): Workflow {
    const steps = [...workflow.steps].map(([id, step]): [string, StepDefinition] => [id, this.#step(step)]);
    return { ...workflow, steps: new Map(steps) };
  }

  crashAt(point: BodyCrash): void {
    this.#crashPoints.add(point);
  }

  /** Calls of all bodies and compensations by their names, such as `ship` or `compensate ship[2]`, of all runs. */
  get executions(): ReadonlyMap<string, number> {
    return this.#executions;
  }

  /** Number of calls of the body of a step (or of one item, `id[3]`) in a run, by any process. */
  calls(runId: string, step: string, part: BodyPart): number {
    return this.#calls.get(`${runId} ${part} ${step}`) ?? 0;
  }

  /** Called when the process has died: its work is no longer awaited. */
  forget(): void {
    this.#underWay = new Set();
  }

  /** Waits in real time until a body has ended. False if no body is running, or all have used their share of real time. */
  async anyEnds(): Promise<boolean> {
    const open = [...this.#underWay].filter(({ waitedFor }) => !waitedFor);
    if (open.length === 0) return false;
    const ends = open.map(({ ended }) => ended);
    if (await anyWithin(this.#patienceMs, ends)) return true;
    for (const execution of open) execution.waitedFor = true;
    return false;
  }

  #step(step: StepDefinition): StepDefinition {
    if (step.kind === 'flow') return this.#flow(step);
    if (!('body' in step)) return step;
    const { compensate } = step;
    return {
      ...step,
      body: this.#observed(step.body, 'body'),
      ...(compensate ? { compensate: this.#observed(compensate, 'compensate') } : {}),
    };
  }

  /** Observes operations like items of a map. The code of the flow counts as running while it does not wait for them. */
  #flow(step: FlowStep): FlowStep {
    const undo = Object.entries(step.undo).map(([name, undoing]) => {
      return [name, { ...undoing, compensate: this.#observed(undoing.compensate, 'compensate', [step.id]) }];
    });
    const observer: FlowObserver = {
      body: (body, key) => this.#observed(body, 'body', [step.id, key]),
      busy: (until) => void this.#watched(() => until, NOTHING),
    };
    return { ...step, undo: Object.fromEntries(undo), observer };
  }

  /** @param known keys of the execution, if its context does not have them */
  #observed(original: ObservedBody, part: BodyPart, known?: readonly string[]): ObservedBody {
    return (context) => {
      const keys = known ?? keysOf(context);
      const name = `${part === 'compensate' ? 'compensate ' : ''}${keys.at(-1)}`;
      const planned = this.#plan?.note(`body ${name}`);
      if (planned === 'before' || this.#reached(keys, part, 'before')) return this.#die();
      for (const key of keys) count(this.#calls, `${String(context.runId)} ${part} ${key}`);
      count(this.#executions, name);
      return this.#watched(
        async () => original(context),
        () => (planned === 'after' || this.#reached(keys, part, 'after') ? this.#die() : undefined),
      );
    };
  }

  async #watched(call: () => Promise<unknown>, after: () => Promise<never> | undefined): Promise<unknown> {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const execution: BodyUnderWay = { ended, waitedFor: false };
    const underWay = this.#underWay;
    underWay.add(execution);
    try {
      return await call();
    } finally {
      underWay.delete(execution);
      resolve();
      await after();
    }
  }

  #reached(keys: readonly string[], part: BodyPart, moment: BodyCrash['moment']): boolean {
    for (const point of this.#crashPoints) {
      if (point.part !== part || point.moment !== moment || !keys.includes(point.step)) continue;
      this.#crashPoints.delete(point);
      return true;
    }
    return false;
  }

  #die(): Promise<never> {
    this.#onCrash();
    return never();
  }
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The step, and the item if it is one of a map. */
function keysOf({ stepId, index }: Context): string[] {
  const id = String(stepId);
  return typeof index === 'number' ? [id, `${id}[${index}]`] : [id];
}
