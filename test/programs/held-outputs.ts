/**
 * The memory budget of a dispatch: the bytes of outputs that it keeps while it drives a run. It may keep an output only for as
 * long as an unfinished step, or the result, needs it, so that its memory does not grow with its progress. The bytes are
 * counted at the object that keeps the outputs, so that the result depends on no garbage collector and no machine.
 */
import { fold, reduce } from '../../packages/cairn/src/core/run/reduce/index.ts';
import type { RunState } from '../../packages/cairn/src/core/run/state.ts';
import { StepOutputs } from '../../packages/cairn/src/engine/drive/outputs.ts';
import type { MemoryDatabase } from '../../packages/cairn/src/memory/memory-database.ts';
import type { Program } from './data/program.ts';

/** Kinds of steps that others may end, of which the drive learns later. */
const ENDED_BY_OTHERS: ReadonlySet<string> = new Set(['approval', 'event', 'child', 'sleep']);

interface Keeper {
  readonly runId: string;
  readonly owner: string | undefined;
  /** Steps that have ended in the view of the drive. */
  readonly released: Set<string>;
}

export class Holdings {
  readonly #db: MemoryDatabase;
  readonly #programs: ReadonlyMap<string, Program>;
  readonly #keepers = new WeakMap<StepOutputs, Keeper>();
  readonly #states = new Map<string, RunState>();
  /** Maximum of bytes that a dispatch has kept at one time. */
  mostBytes = 0;
  /** The first output that was kept without need. */
  failure: Error | undefined;

  constructor(db: MemoryDatabase, programs: ReadonlyMap<string, Program>) {
    this.#db = db;
    this.#programs = programs;
  }

  /** Watches all dispatches of this process until `stop` is called. */
  watch(): { stop(): void } {
    const { load, put, release } = StepOutputs.prototype;
    const holdings = this;
    Object.assign(StepOutputs.prototype, {
      async load(this: StepOutputs, ...args: Parameters<typeof load>) {
        await load.apply(this, args);
        const [, state] = args;
        holdings.#keepers.set(this, {
          runId: state.id,
          owner: state.lease?.owner,
          released: new Set(),
        });
        holdings.#check(this);
      },
      put(this: StepOutputs, ...args: Parameters<typeof put>) {
        put.apply(this, args);
        holdings.#check(this);
      },
      release(this: StepOutputs, ...args: Parameters<typeof release>) {
        release.apply(this, args);
        holdings.#keepers.get(this)?.released.add(args[0].id);
        holdings.#check(this);
      },
    });
    return { stop: () => void Object.assign(StepOutputs.prototype, { load, put, release }) };
  }

  #check(outputs: StepOutputs): void {
    const keeper = outputs && this.#keepers.get(outputs);
    const state = keeper && this.#stateOf(keeper.runId);
    // A process that lost its run may not know this yet.
    if (!keeper || !state || state.lease?.owner !== keeper.owner) return;
    const { held } = outputs;
    let bytes = 0;
    for (const [id, size] of held) {
      bytes += size;
      if (!this.#isNeeded(id, state, keeper))
        this.failure ??= new Error(
          `memory: a dispatch of run ${keeper.runId} keeps the ${size} bytes of '${id}', which nothing needs any more`,
        );
    }
    this.mostBytes = Math.max(this.mostBytes, bytes);
  }

  #isNeeded(id: string, state: RunState, { released }: Keeper): boolean {
    const program = this.#programs.get(state.type);
    if (!program) throw new Error(`no program '${state.type}'`);
    // A run that is being undone has no result. The compensation of a step sees the same outputs as its body.
    if (state.compensating) return program.steps.some(({ needs }) => needs.includes(id));
    if (program.result.includes(id)) return true;
    return program.steps.some((step) => {
      if (!step.needs.includes(id)) return false;
      if (state.steps.get(step.id)?.phase !== 'done') return true;
      const mayBeNews = ENDED_BY_OTHERS.has(step.kind) || program.onDoubt === 'ask';
      return mayBeNews && !released.has(step.id);
    });
  }

  /** The run folded from its whole journal, starting from the previous fold. */
  #stateOf(runId: string): RunState | undefined {
    const events = this.#db.runs.get(runId)?.events;
    if (!events) return undefined;
    const before = this.#states.get(runId);
    const state = before ? events.slice(before.head).reduce(reduce, before) : fold(runId, events);
    this.#states.set(runId, state);
    return state;
  }
}
