/**
 * Two attempts, a scan and an external append at one run, as a program for the explorer: every order of their calls, with a
 * bounded number of crashes, lost answers and pauses past the lease. When all have ended or died, time continues with
 * healthy processes, and the run must end.
 */
import { createHash } from 'node:crypto';
import { isOver, type RunState } from '../../../packages/cairn/src/core/run/state.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import type { RunDocuments } from '../../../packages/cairn/src/memory/memory-database.ts';
import type { SnapshotTouch } from '../../../packages/cairn/src/ports/run-store.ts';
import type { Choice, Execution } from '../explorer.ts';
import { intercept, never } from '../intercept.ts';
import { assertSnapshot, assertStored } from '../soundness.ts';
import { settle } from '../virtual-clock.ts';
import { World } from '../world.ts';
import { Actor, type Answer, type Waiting } from './actor.ts';
import { isOutside, type Kind, TOLERATED, twoSteps, WORK } from './cast.ts';

export interface Race {
  readonly actors: readonly Kind[];
  /** Number of commits of an attempt that died before the race and left its lease; absent: there was none. */
  readonly deadDriveCommits?: number;
  readonly crashes?: number;
  readonly lostAnswers?: number;
  /** Most pauses that are longer than a lease. */
  readonly pauses?: number;
  /** True if the queue loses all its tasks after the race, so that only the scan can find the run. */
  readonly loseTasks?: boolean;
  /** Breaks the dependencies of all actors, to prove that the checks notice it. */
  readonly sabotage?: (deps: EngineDeps) => EngineDeps;
}

/** Time after which a healthy installation must have ended the run. */
const LONG_MS = 24 * 3_600_000;

/** The race as a program for the explorer. */
export function raceOf(race: Race): () => Promise<Execution> {
  let running: RunningRace | undefined;
  const workflow = twoSteps((step) => running?.ran(step));
  const ended = new Set<string>();
  return async () => {
    running = new RunningRace(race, workflow, ended);
    await running.prepare();
    return running;
  };
}

class RunningRace implements Execution {
  readonly #race: Race;
  readonly #bodies = new Map<string, number>();
  readonly #world: World;
  readonly #actors: Actor[] = [];
  readonly #ended: Set<string>;
  #runId = '';
  #crashes: number;
  #lostAnswers: number;
  #pauses: number;
  /** Last `wakeAt` set by the scan. */
  #movedTo = 0;

  /** @param ended stored states after a race from which the run is known to end well */
  constructor(race: Race, workflow: Workflow, ended: Set<string>) {
    this.#ended = ended;
    this.#race = race;
    this.#crashes = race.crashes ?? 0;
    this.#lostAnswers = race.lostAnswers ?? 0;
    this.#pauses = race.pauses ?? 0;
    this.#world = new World({ workflows: [workflow] });
  }

  async prepare(): Promise<void> {
    const { clock, queue, deps } = this.#world;
    const { actors, deadDriveCommits, sabotage } = this.#race;
    this.#runId = await this.#world.start('two-steps');
    for (let task = queue.take(); task; task = queue.take());
    if (deadDriveCommits !== undefined) await this.#dieAfter(deadDriveCommits);
    clock.jump(Math.max(60_001, deps.settings.leaseMs + 1));
    const noted: EngineDeps = {
      ...deps,
      store: intercept(deps.store, ({ method, args }, proceed) => {
        const { wakeAt } = method === 'touch' ? (args[0] as SnapshotTouch) : {};
        if (wakeAt !== undefined) this.#movedTo = wakeAt;
        return proceed();
      }),
    };
    actors.forEach((kind, i) => {
      const actor = new Actor(`${kind} ${i}`, noted, {
        outside: isOutside(kind),
        beats: this.#pauses > 0,
      });
      actor.begin(TOLERATED[kind], (own) => WORK[kind](sabotage ? sabotage(own) : own, this.#runId));
      this.#actors.push(actor);
    });
  }

  choices(): readonly Choice[] {
    const alone = this.#actors.find(({ waiting }) => waiting.some((call) => call.private));
    if (alone) return this.#movesOf(alone);
    const choices = this.#actors.flatMap((actor, i) => (this.#mayMove(i) ? this.#movesOf(actor) : []));
    if (this.#pauses > 0 && choices.length > 0)
      choices.push({ label: 'a lease passes', take: () => this.#pause() });
    return [...choices, ...this.#absences()];
  }

  key(): string {
    return hash([this.#stored(), this.#actors.map((actor) => actor.key)]);
  }

  /** All stored state that affects the time after the race. */
  #stored(): unknown[] {
    const run = this.#run();
    // The hash of an event identifies it and all earlier ones; checkpoints and step records follow from the events.
    return [
      [run.events.at(-1)?.hash, run.snapshot.headHash, run.metadata, run.wakeAt],
      (this.#race.pauses ?? 0) > 0 ? run.version : 'never seen',
      this.#world.queue.pending.map(({ id: _, ...task }) => JSON.stringify(task)).sort(),
      this.#world.clock.now(),
      [this.#crashes, this.#lostAnswers, this.#pauses, this.#movedTo],
      [...this.#bodies],
    ];
  }

  check(): void {
    for (const actor of this.#actors) if (actor.failure !== undefined) throw actor.failure;
    assertSnapshot(this.#run(), this.#movedTo);
  }

  async finish(): Promise<void> {
    const { queue, clock, db } = this.#world;
    const acknowledged = this.#actors.filter((actor) => actor.outcome === 'acknowledged').length;
    const future = hash([this.#stored(), acknowledged]);
    if (this.#ended.has(future)) return;
    if (this.#race.loseTasks) for (let task = queue.take(); task; task = queue.take());
    const deadline = clock.now() + LONG_MS;
    await this.#world.run(() => this.#isOver() || clock.now() > deadline);
    await settle();
    const state = assertStored(db, this.#runId, this.#movedTo);
    if (!isOver(state)) throw new Error(`stranded: the run is ${state.status}`);
    this.#assertOutcome(state, acknowledged);
    this.#assertBodies();
    this.#ended.add(future);
  }

  #assertOutcome(state: RunState, acknowledged: number): void {
    const { events } = this.#run();
    const outside = this.#race.actors.includes('cancel') ? 'cancel_requested' : 'signal_received';
    const found = events.filter((event) => event.type === outside).length;
    const outsiders = this.#race.actors.filter(isOutside).length;
    if (found < acknowledged || found > outsiders) {
      throw new Error(`${found} '${outside}' in the journal, ${acknowledged} acknowledged`);
    }
    const expected = outside === 'cancel_requested' && found > 0 ? 'cancelled' : 'completed';
    if (state.status !== expected) throw new Error(`the run is ${state.status}, not ${expected}`);
  }

  /** A body may run again only if it was in flight when its process died, paused past the lease, or lost its run to a redelivery. */
  #assertBodies(): void {
    const { crashes = 0, pauses = 0, deadDriveCommits } = this.#race;
    const excuses =
      crashes -
      this.#crashes +
      (pauses - this.#pauses) +
      (deadDriveCommits === undefined ? 0 : 1) +
      this.#takeOvers;
    for (const [step, times] of this.#bodies) {
      if (times > 1 + excuses) throw new Error(`step '${step}' ran ${times} times`);
    }
  }

  /** Fails if a body begins although its result is durable and its process must know it. */
  ran(step: string): void {
    this.#bodies.set(step, (this.#bodies.get(step) ?? 0) + 1);
    const done = this.#run().events.some(
      (event) => event.type === 'step_succeeded' && event.data.stepId === step,
    );
    // A dispatch that paused or lost its run may not know it.
    if (done && (this.#race.pauses ?? 0) === this.#pauses && this.#takeOvers === 0)
      throw new Error(`step '${step}' ran after its end`);
  }

  /** Number of times that a redelivery of a task took the run from a live dispatch. */
  get #takeOvers(): number {
    return this.#run().events.filter(
      (event) => event.type === 'orphan_detected' && event.data.why === 'redelivered',
    ).length;
  }

  /** Lets the first of two identical actors start first, because the other half of the schedules is symmetric. */
  #mayMove(index: number): boolean {
    const before = this.#actors[index - 1];
    return !before || this.#race.actors[index] !== this.#race.actors[index - 1] || before.started;
  }

  #movesOf(actor: Actor): Choice[] {
    const now = this.#world.clock.now();
    return actor.waiting.filter(({ at }) => at <= now).flatMap((call) => this.#waysOn(actor, call));
  }

  #waysOn(actor: Actor, call: Waiting): Choice[] {
    const answers: Answer[] = ['told'];
    if (call.kind === 'write' && this.#lostAnswers > 0) answers.push('lost_after');
    if (call.label === 'enqueue' && this.#lostAnswers > 0) answers.push('lost_before');
    if (call.kind === 'write' && this.#crashes > 0) answers.push('told_then_dies');
    return answers.map((answer) => ({
      label: `${actor.name} ${call.label}${answer === 'told' ? '' : ` (${answer})`}`,
      take: () => {
        if (answer === 'told_then_dies') this.#crashes -= 1;
        else if (answer !== 'told') this.#lostAnswers -= 1;
        call.pass(answer);
      },
    }));
  }

  /** Choices in which an actor dies before its first write; the time of this makes no difference. */
  #absences(): Choice[] {
    if (
      this.#crashes === 0 ||
      this.#actors.some(({ started }, i) => started && !isOutside(this.#race.actors[i]))
    )
      return [];
    return this.#actors.map((actor) => ({
      label: `${actor.name} never comes`,
      take: () => {
        this.#crashes -= 1;
        actor.crash();
      },
    }));
  }

  #pause(): void {
    this.#pauses -= 1;
    this.#world.clock.jump(this.#world.deps.settings.leaseMs + 1);
  }

  /** Runs an attempt whose process ends during a commit, after `commits` applied ones. */
  async #dieAfter(commits: number): Promise<void> {
    let applied = 0;
    const { deps } = this.#world;
    const store = intercept(deps.store, ({ method }, proceed) => {
      if (method === 'commit' && applied >= commits) return never();
      if (method === 'commit') applied += 1;
      return proceed();
    });
    // Its timers must not fire either.
    const clock = { now: () => deps.clock.now(), timer: () => () => {} };
    void drive({ ...deps, store, clock }, { runId: this.#runId });
    await settle();
  }

  #run(): RunDocuments {
    const run = this.#world.db.runs.get(this.#runId);
    if (!run) throw new Error('the run is gone');
    return run;
  }

  #isOver(): boolean {
    return isOver(this.#run().snapshot);
  }
}

function hash(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}
