/**
 * Attempts, senders and cancels of runs that wait for an event, as a program for the explorer: every order of their calls, with
 * a bounded number of crashes and lost answers. When all have ended or died, callers without an answer repeat their calls,
 * healthy processes continue, and all answers must have been true.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isOver } from '../../../packages/cairn/src/core/run/state.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import { MemoryMailboxStore } from '../../../packages/cairn/src/memory/memory-documents.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { deliverEvent } from '../../../packages/cairn/src/operations/events/deliver-event.ts';
import type { MailboxStore } from '../../../packages/cairn/src/ports/mailbox-store.ts';
import type { Choice, Execution } from '../explorer.ts';
import { assertStored } from '../soundness.ts';
import { World } from '../world.ts';
import { Actor, type Answer, type Waiting } from './actor.ts';

const PLACE = { tenantId: 't1', event: 'built', key: 'main' };
const HOUR_MS = 3_600_000;

/** Waits for the event for an hour, then continues without it. */
function waiting(): Workflow {
  return defineWorkflow({
    type: 'waiting',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const wait = { event: PLACE.event, key: () => PLACE.key, timeout: '1h' };
      return { built: step.event('built', { ...wait, onFailure: { degradeTo: null } }) };
    },
  });
}

export type Part =
  | { readonly does: 'drive' | 'cancel'; readonly run: number }
  /** `by`: a process of a deployment that lacks the run's definition. */
  | { readonly does: 'send'; readonly eventId: string; readonly by?: 'another_deployment' };

export interface EventRace {
  readonly runs: number;
  /** Parts that are executed in order before the race; `hour` lets an hour pass. */
  readonly before?: readonly (Part | 'hour')[];
  readonly parts: readonly Part[];
  readonly crashes?: number;
  readonly lostAnswers?: number;
  /** Limit after the race for the end of the last run, ms of virtual time; default: none. */
  readonly withinMs?: number;
  /** Breaks the mailbox store for all actors, to prove that the checks notice it. */
  readonly sabotage?: (mailbox: MailboxStore) => MailboxStore;
  /** Called with the end of each schedule: for each event, the number of runs that received it. */
  readonly onEnd?: (end: string) => void;
}

/** Errors that are an answer, or after which the caller repeats the call. */
const TOLERATED = ['OutcomeUnknown', 'CairnError'];

export function eventRace(race: EventRace): () => Promise<Execution> {
  const workflow = waiting();
  const ended = new Set<string>();
  return async () => {
    const running = new RunningEventRace(race, workflow, ended);
    await running.prepare();
    return running;
  };
}

class RunningEventRace implements Execution {
  readonly #race: EventRace;
  readonly #world: World;
  readonly #deps: EngineDeps;
  readonly #places: MemoryDatabase;
  readonly #actors: Actor[] = [];
  readonly #runs: string[] = [];
  /** Responses to senders. */
  readonly #told: { readonly eventId: string; readonly answer: string }[] = [];
  #crashes: number;
  #lostAnswers: number;

  readonly #ended: Set<string>;

  /** @param ended final states from which the runs are known to end well */
  constructor(race: EventRace, workflow: Workflow, ended: Set<string>) {
    this.#race = race;
    this.#ended = ended;
    this.#crashes = race.crashes ?? 0;
    this.#lostAnswers = race.lostAnswers ?? 0;
    this.#world = new World({ workflows: [workflow] });
    // A separate database, so that its versions count only the writes of this document.
    this.#places = new MemoryDatabase(this.#world.clock);
    const mailbox = new MemoryMailboxStore(this.#places);
    const { sabotage = (sound) => sound } = race;
    this.#deps = { ...this.#world.deps, mailboxes: sabotage(mailbox) };
  }

  async prepare(): Promise<void> {
    const { runs, before = [], parts } = this.#race;
    for (let i = 0; i < runs; i += 1) this.#runs.push(await this.#world.start('waiting'));
    for (const part of before) {
      if (part === 'hour') this.#world.clock.jump(HOUR_MS);
      else await this.#work(part)(this.#deps);
    }
    for (let task = this.#world.queue.take(); task; task = this.#world.queue.take());
    parts.forEach((part, i) => {
      const actor = new Actor(`${part.does} ${i}`, this.#deps, { outside: false, beats: true });
      actor.begin(TOLERATED, this.#work(part));
      this.#actors.push(actor);
    });
  }

  #work(part: Part): (deps: EngineDeps) => Promise<string> {
    if (part.does === 'send') {
      const elsewhere = part.by && { registry: new WorkflowRegistry([]) };
      return (deps) => this.#send({ ...deps, ...elsewhere }, part.eventId);
    }
    const runId = this.#runs[part.run] ?? '';
    if (part.does === 'drive') return (deps) => drive(deps, { runId });
    return async (deps) => (await cancelRun(deps, { runId, tenantId: 't1', stopKind: 'user' })).status;
  }

  async #send(deps: EngineDeps, eventId: string): Promise<string> {
    const { delivered, kept } = await deliverEvent(deps, { ...PLACE, eventId, data: eventId });
    const answer = kept ? 'kept' : `delivered ${delivered.map((id) => this.#runs.indexOf(id)).sort()}`;
    this.#told.push({ eventId, answer });
    return answer;
  }

  choices(): readonly Choice[] {
    const alone = this.#actors.find(({ waiting }) => waiting.some((call) => call.private));
    return (alone ? [alone] : this.#actors).flatMap((actor) => this.#movesOf(actor));
  }

  #movesOf(actor: Actor): Choice[] {
    const now = this.#world.clock.now();
    return actor.waiting.filter(({ at }) => at <= now).flatMap((call) => this.#waysOn(actor, call));
  }

  #waysOn(actor: Actor, call: Waiting): Choice[] {
    const answers: Answer[] = ['told'];
    if (call.kind === 'write' && call.label !== 'enqueue') {
      if (this.#lostAnswers > 0) answers.push('lost_after');
      if (this.#crashes > 0) answers.push('told_then_dies');
    }
    return answers.map((answer) => ({
      label: `${actor.name} ${call.label}${answer === 'told' ? '' : ` (${answer})`}`,
      take: () => {
        if (answer === 'told_then_dies') this.#crashes -= 1;
        else if (answer !== 'told') this.#lostAnswers -= 1;
        call.pass(answer);
      },
    }));
  }

  key(): string {
    return hash([this.#stored(), this.#actors.map((actor) => actor.key)]);
  }

  #stored(): unknown[] {
    const runs = this.#runs.map((runId) => {
      const run = this.#world.db.runs.get(runId);
      return [run?.events.at(-1)?.hash, run?.snapshot.headHash, run?.metadata, run?.wakeAt, run?.version];
    });
    const tasks = this.#world.queue.pending.map(({ id: _, ...task }) => JSON.stringify(task)).sort();
    const budget = [this.#crashes, this.#lostAnswers];
    return [runs, tasks, [...this.#places.mailboxes], this.#told, budget];
  }

  check(): void {
    for (const actor of this.#actors) if (actor.failure !== undefined) throw actor.failure;
  }

  async finish(): Promise<void> {
    const { parts } = this.#race;
    for (const [i, part] of parts.entries()) {
      const { outcome } = this.#actors[i] ?? {};
      const unanswered = outcome === 'crashed' || TOLERATED.includes(outcome ?? '');
      if (unanswered && part.does !== 'drive') await this.#work(part)(this.#deps).catch(() => {});
    }
    this.#assertPlace('when the race is over');
    const future = hash(this.#stored());
    if (this.#ended.has(future)) return;
    const { clock } = this.#world;
    const over = clock.now();
    await this.#world.run(
      () => this.#runs.every((id) => this.#world.db.runs.get(id)?.wakeAt === undefined),
      this.#deps,
    );
    const { withinMs = Number.POSITIVE_INFINITY } = this.#race;
    if (clock.now() - over > withinMs) throw new Error(`the runs ended after ${clock.now() - over} ms`);
    const states = this.#runs.map((id) => assertStored(this.#world.db, id, Number.POSITIVE_INFINITY));
    for (const state of states) if (!isOver(state)) throw new Error(`stranded: a run is ${state.status}`);
    this.#race.onEnd?.(this.#assertPlace('in the end').join());
    const left = this.#place()?.waiting ?? [];
    if (left.length > 0) throw new Error(`${left.length} waits of runs that are over are still listed`);
    this.#ended.add(future);
  }

  /** An event was either received by runs or is buffered, never both, and all answers to senders were true. */
  #assertPlace(when: string): string[] {
    const ids = [
      ...new Set(
        this.#race.parts
          .concat(this.#sentBefore())
          .flatMap((part) => (part.does === 'send' ? [part.eventId] : [])),
      ),
    ];
    return ids.map((eventId) => {
      const takers = this.#takers(eventId);
      const early = this.#place()?.buffered.find((event) => event.eventId === eventId);
      const isFree =
        early && early.takenBy === undefined && early.passing === undefined && early.deliveredTo.length === 0;
      for (const { answer } of this.#told.filter((told) => told.eventId === eventId)) {
        if (answer.startsWith('delivered') && answer !== `delivered ${takers}`)
          throw new Error(`${when}: '${eventId}' is with [${takers}], its sender was told '${answer}'`);
      }
      if (when === 'in the end' && takers.length === 0 && !isFree)
        throw new Error(`${when}: '${eventId}' is lost`);
      if (takers.length > 0 && isFree)
        throw new Error(`${when}: '${eventId}' was taken in and lies there for another`);
      return `${eventId} ${takers.length}`;
    });
  }

  #sentBefore(): Part[] {
    return (this.#race.before ?? []).filter((part) => part !== 'hour');
  }

  /** Runs whose journals contain the event, each at most once. */
  #takers(eventId: string): number[] {
    return this.#runs.flatMap((runId, i) => {
      const events = this.#world.db.runs.get(runId)?.events ?? [];
      const times = events.filter(
        ({ type, data }) => type === 'wait_resolved' && data.signalId === eventId,
      ).length;
      if (times > 1) throw new Error(`run ${i} took '${eventId}' in ${times} times`);
      return times === 1 ? [i] : [];
    });
  }

  #place() {
    return [...this.#places.mailboxes.values()][0]?.mailbox;
  }
}

function hash(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}
