/**
 * Simulated processes that host many dispatches, or only one of a suspect, and die with all of them. Owns the effect of a harm
 * on a process, and the redelivery of the lost tasks. `run` advances time and delivers.
 */
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { driveRequestOf, type QueuedTask } from '../../../packages/cairn/src/memory/memory-task-queue.ts';
import { scan } from '../../../packages/cairn/src/recovery/scan.ts';
import { type Mortal, mortal } from '../../support/mortal.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';
import type { Draw } from '../data/draw.ts';
import { type BodyPlan, crowd, type Harm, lets } from './grammar.ts';

interface Process {
  readonly alone: boolean;
  readonly mortal: Mortal;
  readonly tasks: Set<QueuedTask>;
  state: 'serves' | 'ends' | 'dead';
}

const COMPANY = { processes: 2, concurrency: 40 };
/** The function for suspects has many instances of one request each. */
const ALONE_AT_MOST = 4;
const REDELIVERY_MS = 100;
/** Time from the end of a drive to its answer. */
const MAX_LINGERING_MS = 1_500;
const LEASE_MS = 20_000;
const GRACE_MS = 1_000;
/** Limit of turns, many times what a crowd needs. */
const MAX_TURNS = 20_000;

export class Processes {
  readonly world: World;
  /** Processes that died while they hosted a dispatch: the cause of each, and its number of lost dispatches. */
  readonly deaths: string[] = [];
  readonly #draw: Draw;
  readonly #all: Process[] = [];

  constructor(draw: Draw) {
    this.#draw = draw;
    const nowhere = crowd(() => Promise.reject(new Error('a body ran outside the processes')));
    this.world = new World({ workflows: [nowhere], settings: { leaseMs: LEASE_MS, graceMs: GRACE_MS } });
  }

  /** Runs until nothing is left to do. */
  async run(): Promise<void> {
    const { clock, queue, store, deps } = this.world;
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      await settle();
      const now = clock.now();
      if (this.#deliver(now)) continue;
      if ((await store.dueRuns(now, 100)).length > 0) {
        await scan(deps);
        if (this.#deliver(now)) continue;
      }
      const times = queue.pending.map(({ at = 0 }) => at).filter((at) => at > now);
      const next = [clock.nextAt, this.world.nextWake, ...times].filter((at) => at !== undefined && at > now);
      if (next.length === 0) return;
      const at = Math.min(...(next as number[]));
      if (!clock.fireNext(at)) clock.jump(at - now);
    }
    throw new Error('the crowd does not come to rest');
  }

  #deliver(now: number): boolean {
    let delivered = false;
    for (const task of this.world.queue.due(now)) {
      const host = task.alone ? this.#aloneHost() : this.#companyHost();
      if (!host) continue;
      this.world.queue.take(task.id);
      host.tasks.add(task);
      delivered = true;
      // On a busy machine time passes between the end of a drive and its answer, in which a timer may strike.
      const lingersMs = this.#draw.chance(0.3) ? this.#draw.between(1, MAX_LINGERING_MS) : 0;
      const answer = (then: () => void) => {
        const tell = () => {
          if (host.state === 'dead') return;
          this.#answered(host, task);
          then();
        };
        if (lingersMs === 0) tell();
        else this.world.clock.timer(lingersMs, tell);
      };
      drive(host.mortal.deps, driveRequestOf(task)).then(
        () => answer(() => {}),
        () =>
          answer(() =>
            this.world.queue.repeat(task, { at: this.world.clock.now() + REDELIVERY_MS, answered: true }),
          ),
      );
    }
    return delivered;
  }

  #serving(alone: boolean): Process[] {
    return this.#all.filter((one) => one.alone === alone && one.state === 'serves');
  }

  #companyHost(): Process | undefined {
    while (this.#serving(false).length < COMPANY.processes) this.#spawn(false);
    const free = this.#serving(false).filter(({ tasks }) => tasks.size < COMPANY.concurrency);
    return free.length === 0 ? undefined : this.#draw.pick(free);
  }

  /** A process for suspects serves one dispatch, because leftovers of it would harm the next. */
  #aloneHost(): Process | undefined {
    return this.#serving(true).length < ALONE_AT_MOST ? this.#spawn(true) : undefined;
  }

  #answered(host: Process, task: QueuedTask): void {
    host.tasks.delete(task);
    if (!host.alone || host.state !== 'serves') return;
    host.state = 'dead';
    host.mortal.kill();
  }

  #spawn(alone: boolean): Process {
    const { deps } = this.world;
    const process: Process = {
      alone,
      tasks: new Set(),
      state: 'serves',
      mortal: mortal(
        {
          ...deps,
          registry: new WorkflowRegistry([crowd((plan, attempt) => this.#act(process, plan, attempt))]),
        },
        1_000 + this.#all.length,
      ),
    };
    this.#all.push(process);
    return process;
  }

  async #act(process: Process, { ms, fails, harm }: BodyPlan, attempt: number): Promise<string> {
    if (harm) this.world.clock.timer(harm.afterMs, () => this.#strike(process, harm));
    // A harm that strikes during its body strikes before the body ends.
    if (harm && !lets(harm)) return new Promise<string>(() => {});
    await new Promise<void>((resolve) => this.world.clock.timer(ms, resolve));
    if (attempt <= fails) throw new Error('not yet');
    return 'done';
  }

  #strike(process: Process, { kind }: Harm): void {
    if (process.state === 'dead') return;
    if (kind !== 'sigterm' && kind !== 'leave') {
      this.#die(process, kind);
      return;
    }
    if (process.state === 'ends') return;
    process.state = 'ends';
    process.mortal.terminate();
    this.world.clock.timer(2 * GRACE_MS, () => this.#die(process, kind));
  }

  #die(process: Process, kind: Harm['kind']): void {
    if (process.state === 'dead') return;
    if (process.tasks.size > 0 || process.state === 'ends')
      this.deaths.push(`${kind} ${process.alone ? 'alone' : 'in company'} with ${process.tasks.size}`);
    process.state = 'dead';
    process.mortal.kill();
    // A spinning process keeps its connections open until the watchdog ends it.
    const at = this.world.clock.now() + (kind === 'spin' ? LEASE_MS + 1_000 : REDELIVERY_MS);
    for (const task of process.tasks) this.world.queue.repeat(task, { at, answered: false });
  }
}
