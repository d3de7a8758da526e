/**
 * Between the engine and the bodies under test: counts calls, tracks running ones, and lets the process die at one of
 * them.
 */
import type { Context, StepDefinition, Workflow } from '../engine/define/steps.ts';
import { never } from './world/intercept.ts';
import { anyWithin } from './world/real-time.ts';

/** Which function of a step: what it does, or what undoes it. */
export type Part = 'body' | 'compensate';

/** A moment at which the process dies, once. */
export interface CrashPoint {
  /** Id of a step, which for a map means any of its items, or `id[3]` for one item. */
  readonly step: string;
  readonly part: Part;
  readonly moment: 'before' | 'after';
}

interface UnderWay {
  readonly ended: Promise<void>;
  /** It has had its share of real time; simulated time may advance. */
  waitedFor: boolean;
}

type AnyBody = (context: Context) => unknown;

export class ObservedBodies {
  readonly #calls = new Map<string, number>();
  readonly #crashPoints = new Set<CrashPoint>();
  readonly #patienceMs: number;
  readonly #onCrash: () => void;
  #underWay = new Set<UnderWay>();

  /** @param patienceMs real time that one execution may take while pretended time stands still */
  constructor({ patienceMs, onCrash }: { patienceMs: number; onCrash: () => void }) {
    this.#patienceMs = patienceMs;
    this.#onCrash = onCrash;
  }

  /** The same workflow, observed. */
  observe(workflow: Workflow): Workflow {
    const steps = [...workflow.steps].map(([id, step]): [string, StepDefinition] => [id, this.#step(step)]);
    return { ...workflow, steps: new Map(steps) };
  }

  crashAt(point: CrashPoint): void {
    this.#crashPoints.add(point);
  }

  /** Number of calls of the body of a step (or of one item, `id[3]`) in a run, by any process. */
  calls(runId: string, step: string, part: Part): number {
    return this.#calls.get(`${runId} ${part} ${step}`) ?? 0;
  }

  /** The process is dead: its work is no longer awaited. */
  forget(): void {
    this.#underWay = new Set();
  }

  /** Waits in real time until a body has ended. False if none is running, or all have had their time. */
  async anyEnds(): Promise<boolean> {
    const open = [...this.#underWay].filter(({ waitedFor }) => !waitedFor);
    if (open.length === 0) return false;
    const ends = open.map(({ ended }) => ended);
    if (await anyWithin(this.#patienceMs, ends)) return true;
    for (const execution of open) execution.waitedFor = true;
    return false;
  }

  #step(step: StepDefinition): StepDefinition {
    if (!('body' in step)) return step;
    const { compensate } = step;
    return {
      ...step,
      body: this.#observed(step.body, 'body'),
      ...(compensate ? { compensate: this.#observed(compensate, 'compensate') } : {}),
    };
  }

  #observed(original: AnyBody, part: Part): AnyBody {
    return (context) => {
      const keys = keysOf(context);
      if (this.#reached(keys, part, 'before')) return this.#die();
      for (const key of keys) this.#count(`${String(context.runId)} ${part} ${key}`);
      return this.#watched(
        async () => original(context),
        () => (this.#reached(keys, part, 'after') ? this.#die() : undefined),
      );
    };
  }

  async #watched(call: () => Promise<unknown>, after: () => Promise<never> | undefined): Promise<unknown> {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const execution: UnderWay = { ended, waitedFor: false };
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

  #reached(keys: readonly string[], part: Part, moment: CrashPoint['moment']): boolean {
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

  #count(key: string): void {
    this.#calls.set(key, (this.#calls.get(key) ?? 0) + 1);
  }
}

/** The step, and the item if it is one of a map. */
function keysOf({ stepId, index }: Context): string[] {
  const id = String(stepId);
  return typeof index === 'number' ? [id, `${id}[${index}]`] : [id];
}
