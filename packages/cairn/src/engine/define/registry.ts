/** The workflows this deployment can run, each in all its versions. */
import { CairnError } from '../../core/errors.ts';
import { declaredType, loopOfPart, partType } from '../../core/flow/parts.ts';
import type { StepKind } from '../../core/run/events.ts';
import { partWorkflow } from './flow/loop-part.ts';
import type { PubsubSubscription } from './pubsub.ts';
import type { SlackSubscription } from './slack.ts';
import type { Workflow } from './steps.ts';

/** Workflow that handles a slash command. */
interface SlackListener {
  readonly workflow: Workflow;
  readonly subscription: SlackSubscription;
}

/** Workflow that subscribes to a topic. */
interface PubsubListener {
  readonly workflow: Workflow;
  readonly subscription: PubsubSubscription;
}

/** The members of a run that identify its plan. */
interface StoredPlanName {
  readonly type: string;
  readonly planVersion: number;
  readonly planFingerprint?: string;
}

function nameOf({ type, planVersion, planFingerprint = '' }: StoredPlanName): string {
  return `${type}@${planVersion} ${planFingerprint}`;
}

export class WorkflowRegistry {
  readonly #versions = new Map<string, Map<number, Workflow>>();
  readonly #commands = new Map<string, SlackListener>();
  readonly #topics = new Map<string, PubsubListener>();
  readonly #changed = new WeakSet<Workflow>();
  readonly #undoable = new Map<string, ReadonlyMap<string, StepKind>>();

  /** @throws CairnError INVALID_INPUT if two workflows have the same type and version, slash command or topic */
  constructor(workflows: readonly Workflow[]) {
    for (const workflow of workflows) {
      const versions = this.#versions.get(workflow.type) ?? new Map<number, Workflow>();
      if (versions.has(workflow.planVersion)) {
        throw new CairnError(
          'INVALID_INPUT',
          `workflow '${workflow.type}' is defined twice with version ${workflow.planVersion}`,
        );
      }
      versions.set(workflow.planVersion, workflow);
      this.#versions.set(workflow.type, versions);
    }
    for (const type of this.types()) this.#listen(type);
  }

  /** The version to which a run is pinned, if it is deployed. Includes parts of loops, unlike the other methods. */
  pinned(type: string, planVersion: number): Workflow | undefined {
    const declared = this.#versions.get(declaredType(type))?.get(planVersion);
    return declared && loopOfPart(type) ? partWorkflow(declared, type) : declared;
  }

  /** Types of the parts that loops of this type may have, in any version. */
  partTypes(type: string): string[] {
    const steps = this.versions(type).flatMap((workflow) => [...workflow.steps.values()]);
    const loops = steps.flatMap((step) => (step.kind === 'flow' && step.loop ? [step.id] : []));
    return [...new Set(loops)].map((loopId) => partType(type, loopId));
  }

  /** True if its plan is known to differ from the stored plan of its version. Runs without a fingerprint rely on this. */
  isKnownChanged(workflow: Workflow): boolean {
    return this.#changed.has(workflow);
  }

  setKnownChanged(workflow: Workflow, isChanged: boolean): void {
    if (isChanged) this.#changed.add(workflow);
    else this.#changed.delete(workflow);
  }

  /** Steps with a compensation, by id, in a plan that is not deployed. Undefined: not known here. */
  undoableIn(plan: StoredPlanName): ReadonlyMap<string, StepKind> | undefined {
    return this.#undoable.get(nameOf(plan));
  }

  /** A stored plan never changes, so this cache needs no expiry; it has as many entries as versions with cancelled runs. */
  setUndoable(plan: StoredPlanName, undoable: ReadonlyMap<string, StepKind>): void {
    this.#undoable.set(nameOf(plan), undoable);
  }

  /** The newest version of a type: what a new run gets. */
  newest(type: string): Workflow | undefined {
    const versions = this.#versions.get(type);
    return versions?.get(Math.max(...versions.keys()));
  }

  versions(type: string): Workflow[] {
    return [...(this.#versions.get(type)?.values() ?? [])].sort((a, b) => b.planVersion - a.planVersion);
  }

  types(): string[] {
    return [...this.#versions.keys()].sort();
  }

  /** Newest versions that listen to this GitHub event. */
  githubListeners(event: string, action: string | undefined): Workflow[] {
    return this.types().flatMap((type) => {
      const workflow = this.newest(type);
      const wanted = workflow?.github.some(
        (on) => on.event === event && (!on.actions || (action !== undefined && on.actions.includes(action))),
      );
      return workflow && wanted ? [workflow] : [];
    });
  }

  /** The newest version that answers to this slash command. */
  slackListener(command: string): SlackListener | undefined {
    return this.#commands.get(command);
  }

  /** The newest version that takes the messages of this topic. */
  pubsubListener(topic: string): PubsubListener | undefined {
    return this.#topics.get(topic);
  }

  /**
   * Only one workflow may handle a command, because its user expects one response, or a topic, because a message has one
   * idempotency key.
   */
  #listen(type: string): void {
    const workflow = this.newest(type);
    if (!workflow) return;
    for (const subscription of workflow.slack) {
      const { command } = subscription;
      const other = this.#commands.get(command)?.workflow.type;
      if (other !== undefined)
        throw new CairnError(
          'INVALID_INPUT',
          `'${other}' and '${type}' both handle the command '${command}'`,
        );
      this.#commands.set(command, { workflow, subscription });
    }
    for (const subscription of workflow.pubsub) {
      const { topic } = subscription;
      const other = this.#topics.get(topic)?.workflow.type;
      if (other !== undefined)
        throw new CairnError(
          'INVALID_INPUT',
          `'${other}' and '${type}' both subscribe to the topic '${topic}'`,
        );
      this.#topics.set(topic, { workflow, subscription });
    }
  }
}
