/** A dispatch under the control of a test: commands wait until the test carries them out, and messages until it takes them. */
import { z } from 'zod';
import { dispatchDecision } from '../../../../packages/cairn/src/core/decisions/dispatch.ts';
import type { EventDraft } from '../../../../packages/cairn/src/core/run/events.ts';
import { type RunState, stepKey } from '../../../../packages/cairn/src/core/run/state.ts';
import type { WorkflowOptions } from '../../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../../packages/cairn/src/engine/define/workflow.ts';
import { limitsOf } from '../../../../packages/cairn/src/engine/definition-of-run.ts';
import { BodyReport } from '../../../../packages/cairn/src/engine/drive/bodies/body-report.ts';
import { carryOut } from '../../../../packages/cairn/src/engine/drive/carry-out.ts';
import { DispatchState } from '../../../../packages/cairn/src/engine/drive/dispatch-state.ts';
import type { Command, Message, StepMessage } from '../../../../packages/cairn/src/engine/drive/messages.ts';
import { type Follows, next } from '../../../../packages/cairn/src/engine/drive/next/next.ts';
import { type BodyUnit, keyOf, type Unit } from '../../../../packages/cairn/src/engine/drive/step-inputs.ts';
import { Announcer } from '../../../../packages/cairn/src/engine/drive/waiting/announcer.ts';
import type { Outcome } from '../../../../packages/cairn/src/engine/recording/output.ts';
import { RunJournal } from '../../../../packages/cairn/src/journal/run-journal.ts';
import { settle } from '../../../support/virtual-clock.ts';
import { World, type WorldOptions } from '../../../support/world.ts';

type Options = Partial<Pick<WorkflowOptions<Record<string, unknown>>, 'budget'>> &
  Pick<WorldOptions, 'bindings' | 'settings'> & {
    readonly alone?: boolean;
    /** The run may have acted before the restore of this time; epoch ms. */
    readonly restoredAt?: number;
    /** Time that the dispatch has, ms. */
    readonly timeMs?: number;
    /** Events that earlier dispatches recorded; given the time at which this one begins. */
    readonly earlier?: (now: number) => readonly EventDraft[];
  };

interface Given {
  readonly command: Command;
  readonly done: PromiseWithResolvers<Message>;
}

export class Dispatch {
  readonly world: World;
  readonly working: DispatchState;
  readonly journal: RunJournal;
  /** Messages that were not taken. */
  readonly mailbox: Message[] = [];
  readonly failures: unknown[] = [];
  isStopped = false;
  readonly #given: Given[] = [];
  readonly #announcer: Announcer;

  private constructor(world: World, journal: RunJournal, options: Options) {
    const { alone = false, timeMs = 600_000, restoredAt } = options;
    this.world = world;
    this.journal = journal;
    const { deps } = world;
    const workflow = deps.registry.newest('w');
    if (!workflow) throw new Error('the workflow is not installed');
    const run = {
      deps,
      journal,
      workflow,
      input: {},
      report: new BodyReport(),
      alone,
      restoredAt,
      budgetEndsAt: world.clock.now() + timeMs,
    };
    this.working = new DispatchState(run, {
      post: (message) => this.mailbox.push(message),
      carryOut: (command) => {
        const done = Promise.withResolvers<Message>();
        this.#given.push({ command, done });
        return done.promise;
      },
      onFailure: (error) => this.failures.push(error),
      isStopped: () => this.isStopped,
    });
    this.#announcer = new Announcer(this.working);
  }

  /** A dispatch that has just claimed a run of these steps. */
  static async of(
    steps: WorkflowOptions<Record<string, unknown>>['steps'],
    { budget, bindings = [], settings = {}, ...options }: Options = {},
  ): Promise<Dispatch> {
    const workflow = defineWorkflow({
      type: 'w',
      planVersion: 1,
      input: z.record(z.string(), z.unknown()),
      steps,
      ...(budget && { budget }),
    });
    const world = new World({ workflows: [workflow], bindings, settings });
    const runId = await world.start('w');
    const loaded = await world.store.load(runId);
    if (!loaded) throw new Error('the run is not there');
    const now = world.clock.now();
    const owner = 'this dispatch';
    const journal = new RunJournal(world.deps, loaded, { ...world.deps.settings, owner });
    const claim = { owner, epoch: 1, expiresAt: now + world.deps.settings.leaseMs };
    await journal.append(() => [
      { type: 'run_claimed', initiator: 'system', data: claim },
      { type: 'run_started', initiator: 'system', data: limitsOf(world.deps.registry, loaded.state, now) },
      ...(options.earlier?.(now) ?? []),
    ]);
    return new Dispatch(world, journal, options);
  }

  /** Commands that were given but not carried out, in words. */
  get given(): string[] {
    return this.#given.map(({ command }) => told(command, this.journal.state));
  }

  get commands(): Command[] {
    return this.#given.map(({ command }) => command);
  }

  /** Keys of bodies that were begun and have not ended. */
  get begun(): string[] {
    return this.working.bodies.inFlight().map(stepKey);
  }

  get now(): number {
    return this.world.clock.now();
  }

  /** Decision of the dispatch if no further message comes. `stop`: the reason why it must stop. */
  concluded(stop?: 'budget' | 'shutdown' | 'paused'): string {
    const stopState = { stop, cancellation: undefined, undoes: false, childrenOpen: false };
    return dispatchDecision({ ...this.working.progress(), ...stopState }).kind;
  }

  unit(key: string): BodyUnit {
    return this.working.unitOf(key) as BodyUnit;
  }

  next(message: Message): Follows {
    return next(this.working, message as StepMessage);
  }

  /** Takes the oldest message of a kind out of the mailbox. */
  take(kind: Message['kind']): Message {
    const at = this.mailbox.findIndex((message) => message.kind === kind);
    const [message] = at < 0 ? [] : this.mailbox.splice(at, 1);
    if (!message) throw new Error(`no message '${kind}'; there are: ${this.mailbox.map((one) => one.kind)}`);
    return message;
  }

  /** Carries out the oldest command, and decides what follows from its message. */
  async carryOut(): Promise<Follows> {
    const given = this.#given.shift();
    if (!given) throw new Error('no command was given');
    const message = await carryOut(this.working, this.#announcer, given.command);
    given.done.resolve(message);
    await undefined;
    await undefined;
    const at = this.mailbox.indexOf(message);
    if (at >= 0) this.mailbox.splice(at, 1);
    return this.next(message);
  }

  /** Carries out all given commands, and those that follow. */
  async carryOutAll(): Promise<void> {
    while (this.#given.length > 0) await this.carryOut();
  }

  /** Lets bodies end whose promises have settled. */
  settle(): Promise<void> {
    return settle();
  }
}

/** A body that never ends. */
export function endless(): Promise<never> {
  return new Promise(() => {});
}

function told(command: Command, state: RunState): string {
  switch (command.kind) {
    case 'record': {
      const { events: facts, consequence } = command.change.decide(state);
      const outcome = 'outcome' in consequence && consequence.outcome ? ` ${named(consequence.outcome)}` : '';
      const types = facts.map(({ type }) => type).join(' + ');
      return `${keyOf(command.change.unit)}: ${types} > ${consequence.kind}${outcome}`;
    }
    case 'announce':
      return `announce ${stepKey(command.wait.execution)}`;
    case 'keep':
      return `keep ${keyOf(command.ending.unit)}`;
    case 'find_question':
      return `find_question ${keyOf(command.ended.unit)}`;
    case 'leave_mailbox':
      return `leave_mailbox ${command.place.event}`;
    case 'cancel_children':
      return `cancel_children ${command.runIds.join()}`;
    case 'read_outcome':
      return `read_outcome ${keyOf(command.executed.unit)}`;
    case 'read_results':
      return `read_results ${command.set.step.id} ${command.done.map(({ index }) => index).join()}`;
  }
}

function named(outcome: Outcome): string {
  return outcome.kind === 'failed' ? `failed ${outcome.error.code}` : outcome.kind;
}

/** The execution of a unit, as it would begin now. */
export function executionOf({ working }: Dispatch, unit: Unit) {
  return working.nextExecution(unit);
}
