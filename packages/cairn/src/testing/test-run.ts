/** A run as seen by a test. Reads the simulated database; changes nothing. */
import type { EffectRecord } from '../core/effects/effect.ts';
import type { Json } from '../core/encoding/json.ts';
import { present } from '../core/optional.ts';
import type { RecordedError, RunEvent, Wait } from '../core/run/events.ts';
import type { StepRecord } from '../core/run/records.ts';
import { fold } from '../core/run/reduce/index.ts';
import type { CompensationEntry, RunState } from '../core/run/state.ts';
import type { RunStatus } from '../core/run/status.ts';
import type { ChildResult } from '../engine/define/types.ts';
import { checkpointText, storedText } from '../engine/stored-text.ts';
import type { RunDocuments } from '../memory/memory-database.ts';
import type { BodyPart, ObservedBodies } from './observed-bodies.ts';
import { timelineOf } from './timeline.ts';
import type { Installation } from './world/installation.ts';

export interface OpenWait {
  readonly step: string;
  readonly kind: Wait['kind'];
  /** For an approval. */
  readonly question?: string | undefined;
  readonly details?: Json | undefined;
  /** For a question about an effect: its id, see `effects`. */
  readonly effect?: string | undefined;
  /** For an event: its name and correlation key. */
  readonly event?: string | undefined;
  readonly key?: string | undefined;
  /** For a child: the id of its run, see `TestRuntime.run`. */
  readonly child?: string | undefined;
  readonly until?: Date | undefined;
}

export class TestRun {
  readonly id: string;
  readonly #installation: Installation;
  readonly #bodies: ObservedBodies;

  constructor(id: string, installation: Installation, bodies: ObservedBodies) {
    this.id = id;
    this.#installation = installation;
    this.#bodies = bodies;
  }

  status(): RunStatus {
    return this.state().status;
  }

  /** The outputs that the workflow returned, by name. @throws Error showing the journal if the run has not completed */
  async result(): Promise<ChildResult> {
    const { status, result } = this.state();
    if (!result)
      throw new Error(`run ${this.id} has no result; its status is ${status}\n\n${this.timeline()}`);
    const text = await storedText(this.#installation.store, this.id, result);
    return JSON.parse(text) as ChildResult;
  }

  /** The reason why the run failed, or is about to. */
  error(): RecordedError | undefined {
    return this.state().error;
  }

  /** The steps that have begun, in order of their first start; an item of a map is a step `id[3]`. */
  steps(): readonly StepRecord[] {
    return [...this.#documents().steps.values()];
  }

  /** @throws Error naming the steps that have begun, if this one has not */
  step(id: string): StepRecord {
    const step = this.#documents().steps.get(id);
    if (step) return step;
    const begun = this.steps().map((record) => record.id);
    throw new Error(
      `step '${id}' of run ${this.id} has not started; started steps: ${begun.join(', ') || 'none'}`,
    );
  }

  /** The output of the step's newest revision. @throws Error showing the journal if it has none */
  async output(id: string): Promise<Json> {
    const { checkpoint } = this.step(id);
    const found = checkpoint === undefined ? undefined : this.#documents().checkpoints.get(checkpoint);
    if (!found) throw new Error(`step '${id}' of run ${this.id} has no output\n\n${this.timeline()}`);
    return JSON.parse(await checkpointText(this.#installation.store, this.id, found)) as Json;
  }

  /** Number of calls of the step's body (or its `compensate`), including processes that died during it. */
  calls(step: string, part: BodyPart = 'body'): number {
    return this.#bodies.calls(this.id, step, part);
  }

  waits(): readonly OpenWait[] {
    return this.state().waits.map(openWait);
  }

  effects(): readonly EffectRecord[] {
    const rows = [...this.#installation.db.effects.values()].map(({ record }) => record);
    return rows.filter(({ runId }) => runId === this.id);
  }

  /** Compensations, failed ones included, in order. */
  compensations(): readonly CompensationEntry[] {
    return this.state().compensationLog;
  }

  journal(): readonly RunEvent[] {
    return this.#documents().events;
  }

  /** The journal as text. */
  timeline(): string {
    return timelineOf(this.journal());
  }

  /** The folded state of the run's journal, without undefined members. */
  state(): RunState {
    return present(fold(this.id, this.journal())) as RunState;
  }

  #documents(): RunDocuments {
    const documents = this.#installation.db.runs.get(this.id);
    if (!documents) throw new Error(`run ${this.id} does not exist`);
    return documents;
  }
}

function openWait(wait: Wait): OpenWait {
  const { kind, execution, detailText, effectId, name, key, child, dueAt } = wait;
  const { stepId, itemKey } = execution;
  const { question, details } = JSON.parse(detailText ?? '{}') as { question?: string; details?: Json };
  return {
    step: itemKey === undefined ? stepId : `${stepId}[${itemKey}]`,
    kind,
    question,
    details,
    effect: effectId,
    event: name,
    key,
    child: child?.runId,
    until: dueAt === undefined ? undefined : new Date(dueAt),
  };
}
