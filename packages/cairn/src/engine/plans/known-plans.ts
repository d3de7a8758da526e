/**
 * Compares each definition of this process with the stored plan of its version, and stores the plan of a version that has none yet.
 * Reads the store only once for a definition that agrees.
 *
 * Must not: decide what follows from a change (operations/start, core/decisions).
 */
import { CairnError } from '../../core/errors.ts';
import { type PlanDifference, planDifference } from '../../core/plan/difference.ts';
import { differ, planFrom, planText } from '../../core/plan/plan.ts';
import type { StepKind } from '../../core/run/events.ts';
import { type SendDeps, sendUntilKnown } from '../../journal/send-until-known.ts';
import type { PlanStore, StoredPlan } from '../../ports/runs/plan-store.ts';
import type { WorkflowRegistry } from '../define/registry.ts';
import type { Workflow } from '../define/steps.ts';
import { planOf } from './plan-of.ts';

/** A definition under the version of another one. */
export interface PlanChange {
  readonly type: string;
  readonly planVersion: number;
  /** The first ones; empty: only the fingerprint of the earlier plan is known. */
  readonly differences: readonly PlanDifference[];
}

/** `unknown`: no run of the version was ever started, or none since plans are stored. */
type PlanComparison = 'same' | 'unknown' | PlanChange;

/** Cache time of every result except agreement, because the first run may start or the stored plan may be deleted. */
const DOUBT_MS = 30_000;

interface KnownPlansDeps extends SendDeps {
  readonly store: PlanStore;
}

export class KnownPlans {
  readonly #deps: KnownPlansDeps;
  readonly #known = new WeakMap<Workflow, { readonly comparison: PlanComparison; readonly until: number }>();

  constructor(deps: KnownPlansDeps) {
    this.#deps = deps;
  }

  /** @throws CairnError UNAVAILABLE */
  async compare(workflow: Workflow): Promise<PlanComparison> {
    return this.#recall(workflow) ?? this.#remember(workflow, await this.#compare(workflow));
  }

  /**
   * Checks the definition on which a run is to be started, and stores it as the plan of its version if there is none.
   *
   * @param by id of the run
   *
   * @throws CairnError UNAVAILABLE
   */
  async meet(workflow: Workflow, by: string): Promise<PlanChange | undefined> {
    let comparison = this.#recall(workflow) ?? 'unknown';
    if (comparison === 'unknown')
      comparison = this.#remember(workflow, await this.#compareOrKeep(workflow, by));
    return comparison === 'same' || comparison === 'unknown' ? undefined : comparison;
  }

  /**
   * Steps with a compensation in the plan that a run was started on, by id. Undefined: that plan is not stored, or only as
   * hashes of its steps.
   *
   * @throws CairnError UNAVAILABLE
   */
  async undoable(run: {
    readonly type: string;
    readonly planVersion: number;
    readonly planFingerprint?: string;
  }): Promise<ReadonlyMap<string, StepKind> | undefined> {
    const { type, planVersion, planFingerprint } = run;
    const stored = await sendUntilKnown(this.#deps, () => this.#deps.store.read(type, planVersion));
    if (stored?.planText === undefined) return undefined;
    if (planFingerprint !== undefined && differ(planFingerprint, stored.fingerprint)) return undefined;
    const undoable = new Map<string, StepKind>();
    for (const [id, step] of Object.entries(planFrom(stored.planText).steps)) {
      if (typeof step === 'string') return undefined;
      if (step.compensate) undoable.set(id, step.kind);
    }
    return undoable;
  }

  #recall(workflow: Workflow): PlanComparison | undefined {
    const known = this.#known.get(workflow);
    return known && this.#deps.clock.now() < known.until ? known.comparison : undefined;
  }

  #remember(workflow: Workflow, comparison: PlanComparison): PlanComparison {
    const until = comparison === 'same' ? Number.POSITIVE_INFINITY : this.#deps.clock.now() + DOUBT_MS;
    this.#known.set(workflow, { comparison, until });
    return comparison;
  }

  async #compareOrKeep(workflow: Workflow, by: string): Promise<PlanComparison> {
    const comparison = await this.#compare(workflow);
    if (comparison !== 'unknown') return comparison;
    const { type, planVersion } = workflow;
    const { plan, fingerprint } = planOf(workflow);
    const createdAt = this.#deps.clock.now();
    const stored = { type, planVersion, fingerprint, createdAt, by, planText: planText(plan) };
    const created = await sendUntilKnown(this.#deps, () => this.#deps.store.create(stored));
    // The plan was stored meanwhile, by another start or by an earlier attempt of this one.
    return created === 'created' ? 'same' : this.#compare(workflow);
  }

  async #compare(workflow: Workflow): Promise<PlanComparison> {
    const { type, planVersion } = workflow;
    const stored = await sendUntilKnown(this.#deps, () => this.#deps.store.read(type, planVersion));
    return stored === undefined ? 'unknown' : comparisonOf(workflow, stored);
  }
}

export function planChanged({ type, planVersion, differences }: PlanChange): CairnError {
  const nextVersion = planVersion + 1;
  const [first] = differences;
  const what = `the definition of version ${planVersion} of '${type}' changed since its first run started`;
  return new CairnError('PLAN_CHANGED', `${what}${firstDifferenceText(differences)}`, {
    stepId: first?.stepId,
    details: { type, planVersion, nextVersion, differences: differences.map(({ what }) => what) },
    help:
      `Give the new definition planVersion ${nextVersion} and keep version ${planVersion} unchanged beside it while runs ` +
      'use it, or deploy the original definition.',
  });
}

/** For example ": step 'a' was renamed or removed, and 2 more differences". Empty without differences. */
export function firstDifferenceText([first, ...rest]: readonly PlanDifference[]): string {
  if (!first) return '';
  const more = rest.length === 0 ? '' : `, and ${rest.length} more difference${rest.length === 1 ? '' : 's'}`;
  return `: ${first.what}${more}`;
}

/** All definitions of this process that differ from the stored plan of their version. @throws CairnError UNAVAILABLE */
export async function changesIn(plans: KnownPlans, registry: WorkflowRegistry): Promise<PlanChange[]> {
  const deployed = registry.types().flatMap((type) => registry.versions(type));
  const comparisons = await Promise.all(deployed.map((workflow) => plans.compare(workflow)));
  return comparisons.filter((comparison) => typeof comparison === 'object');
}

function comparisonOf(workflow: Workflow, { fingerprint, planText: before }: StoredPlan): PlanComparison {
  const { type, planVersion } = workflow;
  const deployed = planOf(workflow);
  if (!differ(fingerprint, deployed.fingerprint)) return 'same';
  const differences = before === undefined ? [] : planDifference(planFrom(before), deployed.plan);
  return { type, planVersion, differences };
}
