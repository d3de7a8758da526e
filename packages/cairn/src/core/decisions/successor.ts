/**
 * Decides what a successor reuses from its source, what it runs again, and why. Pure. The dispatch of the successor and the
 * preview both use it.
 *
 * Must not: know how the source is read, or decide about effects (successor-effects.ts).
 */
import { inputsHash } from '../encoding/fingerprint.ts';
import type { Graph } from '../graph/graph.ts';
import type { CheckpointRef, StepKind, StepSettled } from '../run/events.ts';
import { feedbackFor, isSuccess, type RunState, stepIdOf } from '../run/state.ts';

/** The part of a step definition that matters here. */
export interface PlannedStep {
  readonly id: string;
  readonly kind: StepKind;
  /** Name in the body → id of the step. */
  readonly needs: Readonly<Record<string, string>>;
  readonly resumable: boolean;
  /** The step is a set whose items can be compensated. */
  readonly undoesItems: boolean;
}

/** An execution with a reusable outcome, as recorded in the journal of the source. */
export interface RecordedStep {
  readonly seq: number;
  readonly data: StepSettled;
  readonly skipped: boolean;
  /** Location of its output: the source, or the run from which the source reused it. */
  readonly from: CheckpointRef;
}

export interface SourceHistory {
  /** State of the source at its end. */
  readonly end: RunState;
  /** State at the point from which the successor continues; undefined: before its first step. */
  readonly asOf: Pick<RunState, 'steps' | 'feedback' | 'itemMarks'> | undefined;
  /** Completed executions by the sequence number of their event. */
  readonly recorded: ReadonlyMap<number, RecordedStep>;
}

/** Data of the new run for its fingerprints. */
interface SuccessorRun {
  readonly type: string;
  readonly planVersion: number;
  readonly inputHash: string;
  /** Input hash for steps that read only a part of the input. */
  readonly inputHashOf: ReadonlyMap<string, string>;
  /** Step that the caller chose to run again, with all that follow. */
  readonly fromStep?: string | undefined;
  readonly graph: Graph;
  /** In the order of the graph. */
  readonly steps: readonly PlannedStep[];
}

/** The reasons why a step runs again, or for the first time. */
export const RERUN_REASONS = [
  /** The successor begins from the start. */
  'from_start',
  'chosen',
  'follows_chosen',
  'not_reached',
  'failed',
  'not_completed',
  /** The source compensated the step when it ended. */
  'undone',
  /** The compensation in the source failed. */
  'undo_failed',
  'effect_in_doubt',
  'not_resumable',
  /** A step it needs runs. */
  'needs_run',
  /** Its inputs have changed. */
  'changed',
] as const;
type RerunReason = (typeof RERUN_REASONS)[number];

export type StepReuse = { readonly id: string; readonly kind: StepKind; readonly revision: number } & (
  | { readonly action: 'reused'; readonly from: CheckpointRef }
  /** `items`: for a map step, the number of items reused. */
  | { readonly action: 'runs'; readonly why: RerunReason; readonly items: number }
);

export interface Reuse extends RecordedStep {
  readonly key: string;
}

export interface SuccessorPlan {
  /** Every step, in the order of the graph. */
  readonly steps: readonly StepReuse[];
  /** In the order of their completion, which is reversed for compensations of the successor. */
  readonly reused: readonly Reuse[];
  /** Revisions of the steps that run, where not 1. */
  readonly revisions: Readonly<Record<string, number>>;
  readonly feedback: readonly { readonly steps: readonly string[]; readonly text: string }[];
  /** Marks of the lists whose items are reused: the successor's list must be the same. */
  readonly marks: NonNullable<RunState['itemMarks']>;
}

export function planSuccessor(run: SuccessorRun, source: SourceHistory): SuccessorPlan {
  return new Planning(run, source).plan();
}

class Planning {
  readonly #run: SuccessorRun;
  readonly #source: SourceHistory;
  readonly #follows: ReadonlySet<string>;
  readonly #items: ReadonlyMap<string, readonly string[]>;
  /** Hashes of the outputs of reused executions. */
  readonly #outputs = new Map<string, string>();

  constructor(run: SuccessorRun, source: SourceHistory) {
    this.#run = run;
    this.#source = source;
    this.#follows = run.fromStep === undefined ? new Set() : run.graph.descendants([run.fromStep]);
    this.#items = itemsOf(source);
  }

  plan(): SuccessorPlan {
    const steps: StepReuse[] = [];
    const reused: Reuse[] = [];
    for (const step of this.#run.steps) {
      const why = this.#whyRun(step);
      const taken = why === undefined ? this.#taken(step.id) : undefined;
      const items = this.#itemsToReuse(step, why);
      reused.push(...items);
      const { id, kind } = step;
      if (taken) {
        this.#outputs.set(id, taken.data.outputHash);
        reused.push(taken);
        steps.push({ id, kind, revision: taken.data.revision, action: 'reused', from: taken.from });
      } else {
        const revision = this.#nextRevision(id);
        steps.push({ id, kind, revision, action: 'runs', why: why ?? 'not_completed', items: items.length });
      }
    }
    const runs = steps.filter(({ action }) => action === 'runs');
    return {
      steps,
      reused: reused.sort((a, b) => a.seq - b.seq),
      revisions: Object.fromEntries(
        runs.filter(({ revision }) => revision > 1).map((s) => [s.id, s.revision]),
      ),
      feedback: this.#feedbackOf(new Set(runs.map(({ id }) => id))),
      marks: this.#marksOf(steps, reused),
    };
  }

  /** A mark of another revision does not describe the list of this one. */
  #marksOf(steps: readonly StepReuse[], reused: readonly Reuse[]): SuccessorPlan['marks'] {
    const sets = new Set(reused.flatMap(({ data, key }) => (key === data.stepId ? [] : [data.stepId])));
    const known = this.#source.asOf?.itemMarks ?? {};
    return Object.fromEntries(
      steps.flatMap(({ id, revision }) => {
        const mark = sets.has(id) && Object.hasOwn(known, id) ? known[id] : undefined;
        return mark?.revision === revision ? [[id, mark]] : [];
      }),
    );
  }

  /** Undefined: the step is reused. In order of significance to the user. */
  #whyRun(step: PlannedStep): RerunReason | undefined {
    const { id } = step;
    const { asOf, end } = this.#source;
    if (!asOf) return 'from_start';
    if (id === this.#run.fromStep) return 'chosen';
    if (this.#follows.has(id)) return 'follows_chosen';
    const state = asOf.steps.get(id);
    if (!state || state.phase === 'again') return 'not_reached';
    if (state.phase !== 'done') return 'not_completed';
    if (state.outcome === 'failed') return 'failed';
    // An outcome that is not recorded counts as missing.
    const taken = isSuccess(state.outcome) ? this.#taken(id) : undefined;
    if (!taken) return 'not_completed';
    const undone = this.#undone(id, state.revision);
    if (undone) return undone.outcome === 'failed' ? 'undo_failed' : 'undone';
    if (end.effects.some((open) => stepIdOf(open.step) === id)) return 'effect_in_doubt';
    if (!step.resumable || !taken.data.resumable) return 'not_resumable';
    if (this.#needsRun(step)) return 'needs_run';
    return this.#isUnchanged(step, taken) ? undefined : 'changed';
  }

  /**
   * For an incomplete map step, the items that would have the same result. For a map step that is reused as a whole, the items
   * that a compensation must include.
   */
  #itemsToReuse(step: PlannedStep, why: RerunReason | undefined): Reuse[] {
    const { asOf, end } = this.#source;
    const keys = this.#items.get(step.id) ?? [];
    if (!asOf || keys.length === 0) return [];
    if (why === undefined) return step.undoesItems ? keys.flatMap((key) => this.#taken(key) ?? []) : [];
    if (why !== 'failed' && why !== 'not_completed') return [];
    const revision = asOf.steps.get(step.id)?.revision ?? 1;
    if (!step.resumable || this.#needsRun(step) || this.#undone(step.id, revision)) return [];
    return keys.flatMap((key) => {
      const taken = this.#taken(key);
      const doubtful = end.effects.some((open) => open.step === key);
      if (!taken?.data.resumable || taken.data.revision !== revision || doubtful) return [];
      return this.#isUnchanged(step, taken) ? [taken] : [];
    });
  }

  /** Reuse of the recorded result, if it succeeded. */
  #taken(key: string): Reuse | undefined {
    const state = this.#source.asOf?.steps.get(key);
    if (state?.phase !== 'done' || !isSuccess(state.outcome)) return undefined;
    const recorded = this.#source.recorded.get(state.seq);
    return recorded && { ...recorded, key };
  }

  #needsRun(step: PlannedStep): boolean {
    return Object.values(step.needs).some((need) => !this.#outputs.has(need));
  }

  /**
   * True if the execution would see the same values. If an operator marked it as completed after a crash, its values were not
   * recorded, so everything it could have seen must be the same.
   */
  #isUnchanged(step: PlannedStep, { data }: RecordedStep): boolean {
    const { type, planVersion, inputHash, inputHashOf } = this.#run;
    const { end, asOf } = this.#source;
    if (data.inputsHash === '') {
      return type === end.type && planVersion === end.planVersion && inputHash === end.inputHash;
    }
    const input = inputHashOf.get(step.id) ?? inputHash;
    const needs = Object.fromEntries(
      Object.entries(step.needs).map(([name, id]) => [name, this.#outputs.get(id) ?? '']),
    );
    const { stepId, itemKey, revision } = data;
    const feedback = feedbackFor({ feedback: asOf?.feedback ?? [] }, stepId);
    return (
      data.inputsHash === inputsHash({ type, planVersion, stepId, itemKey, revision, feedback, input, needs })
    );
  }

  /** The newest compensation in the source of the step, or an item of it, at this revision or later. */
  #undone(id: string, revision: number): RunState['compensationLog'][number] | undefined {
    const log = this.#source.end.compensationLog.filter(
      (entry) => stepIdOf(entry.stepId) === id && entry.revision >= revision,
    );
    // A failed compensation takes precedence over completed ones.
    return log.find(({ outcome }) => outcome === 'failed') ?? log[0];
  }

  /**
   * The revision that the source had reached, because it identifies effects. A compensated step gets the next revision; otherwise
   * its effects would count as done.
   */
  #nextRevision(id: string): number {
    const { end } = this.#source;
    const reached = end.steps.get(id)?.revision ?? 1;
    const undone = end.compensationLog
      .filter((entry) => stepIdOf(entry.stepId) === id)
      .map((entry) => entry.revision + 1);
    return Math.max(reached, ...undone);
  }

  /**
   * Feedback for the successor: for steps that run, as of the end of the source; for reused steps, as of their
   * execution.
   */
  #feedbackOf(runs: ReadonlySet<string>): SuccessorPlan['feedback'] {
    const { end, asOf } = this.#source;
    const feedbackFor = (entries: RunState['feedback'], isIncluded: (id: string) => boolean) =>
      entries.flatMap(({ steps, text }) => {
        const included = steps.filter(isIncluded);
        return included.length === 0 ? [] : [{ steps: included, text }];
      });
    return [
      ...feedbackFor(end.feedback, (id) => runs.has(id)),
      ...feedbackFor(asOf?.feedback ?? [], (id) => !runs.has(id)),
    ];
  }
}

/** Keys of items that had begun, by the id of their step. */
function itemsOf({ asOf }: SourceHistory): ReadonlyMap<string, readonly string[]> {
  const items = new Map<string, string[]>();
  for (const key of asOf?.steps.keys() ?? []) {
    const id = stepIdOf(key);
    if (id === key) continue;
    const keys = items.get(id);
    if (keys) keys.push(key);
    else items.set(id, [key]);
  }
  return items;
}
