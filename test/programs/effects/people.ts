/**
 * The people. One knows the receiver and truthfully answers every question about a side effect, in their own time and sometimes
 * twice. Others create successors of ended runs, of any mode and from any point.
 */
import {
  type EffectRecord,
  isInDoubt,
  type Resolution,
} from '../../../packages/cairn/src/core/effects/effect.ts';
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';
import { isOver, type RunState, stepKey } from '../../../packages/cairn/src/core/run/state.ts';
import type { MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import { resolveEffect } from '../../../packages/cairn/src/operations/effects/resolve-effect.ts';
import type { From } from '../../../packages/cairn/src/operations/successors/request.ts';
import { startSuccessor } from '../../../packages/cairn/src/operations/successors/start-successor.ts';
import type { Cluster } from '../chaos/cluster.ts';
import type { SharedDeps } from '../chaos/worker.ts';
import type { Draw } from '../data/draw.ts';
import type { Program } from './plan.ts';
import type { Receiver } from './receiver.ts';

export interface PeopleOptions {
  readonly cluster: Cluster;
  readonly db: MemoryDatabase;
  readonly draw: Draw;
  readonly receiver: Receiver;
  readonly program: Program;
  readonly tenantId: string;
  /** Number of successors in total. */
  readonly successors: number;
}

const MINUTE = 60_000;
const REPEATS = 0.3;
/** Errors because others were faster, or because the run has ended. */
const TOO_LATE = new Set([
  'EFFECT_RESOLVED',
  'RUN_TERMINAL_STATE',
  'RUN_INVALID_TRANSITION',
  'APPROVAL_DECIDED',
  'NOT_FOUND',
]);

export class People {
  readonly #options: PeopleOptions;
  readonly #seen = new Set<string>();
  #left: number;
  /** Repetitions that a person allowed: runs by action. */
  readonly allowed = new Map<string, Set<string>>();
  /** Runs in which a person had a step fail. */
  readonly failed = new Set<string>();

  constructor(options: PeopleOptions) {
    this.#options = options;
    this.#left = options.successors;
  }

  /** True if a person may still act. */
  get busy(): boolean {
    return this.#left > 0;
  }

  /** Looks for open questions, and for ended runs. */
  look(): void {
    const { db, draw } = this.#options;
    for (const [runId, { snapshot }] of db.runs) {
      for (const wait of isOver(snapshot) ? [] : snapshot.waits) {
        if (wait.kind !== 'approval' || !this.#isNew(`${runId} ${wait.id} ${wait.openedAt}`)) continue;
        if (wait.effectId === undefined) this.#approve(snapshot, wait.id, stepKey(wait.execution));
        else this.#resolve(runId, wait.effectId, this.#soon);
      }
      if (isOver(snapshot)) this.#lookAtLeft(snapshot);
    }
    if (this.#left === 0) return;
    const ended = [...db.runs.values()].map(({ snapshot }) => snapshot).filter(isOver);
    const roots = ended.filter(({ parent }) => !parent || draw.chance(0.02));
    if (roots.length === 0) return;
    if (![...db.runs.values()].every(({ snapshot }) => isOver(snapshot)) && !draw.chance(0.02)) return;
    const source = draw.pick(roots);
    const times = Math.min(this.#left, draw.chance(0.3) ? 2 : 1);
    for (let i = 0; i < times; i += 1) this.#succeed(source);
    this.#left -= times;
  }

  /** Resolves some of the doubts that a run left, while others create successors of it. */
  #lookAtLeft({ id, effects }: RunState): void {
    const { db, draw } = this.#options;
    for (const { effectId } of effects) {
      const row = db.effects.get(effectId)?.record;
      if (!row || !isInDoubt(row) || !this.#isNew(`${id} has left ${effectId}`)) continue;
      if (draw.chance(0.5)) this.#resolve(id, effectId, this.#soon);
    }
  }

  #isNew(name: string): boolean {
    if (this.#seen.has(name)) return false;
    this.#seen.add(name);
    return true;
  }

  #approve({ id: runId }: RunState, waitId: string, stepId: string): void {
    const { cluster, tenantId } = this.#options;
    cluster.plan(this.#soon, {
      label: `approve ${waitId}`,
      work: (deps) =>
        unlessTooLate(
          decideApproval(deps, { runId, tenantId, waitId, stepId, decision: 'approve', actor: 'p1' }),
        ),
    });
  }

  #resolve(runId: string, effectId: string, at: number): void {
    const { cluster, draw } = this.#options;
    const actor = `p${draw.below(9)}`;
    cluster.plan(at, {
      label: `resolve ${effectId}`,
      work: (deps) => this.#clearUp(deps, { runId, effectId, actor }),
    });
    if (draw.chance(REPEATS)) {
      cluster.plan(at + (draw.chance(0.5) ? 0 : draw.below(MINUTE)), {
        label: `resolve ${effectId} too`,
        work: (deps) => this.#clearUp(deps, { runId, effectId, actor: 'p9' }),
      });
    }
  }

  async #clearUp(deps: SharedDeps, asked: { runId: string; effectId: string; actor: string }): Promise<void> {
    const { db, receiver, cluster, tenantId } = this.#options;
    const { runId, effectId } = asked;
    const row = db.effects.get(effectId)?.record;
    if (!row) throw new Error(`nobody has row ${effectId}, of which run ${runId} asks`);
    // A person who knows that a request is on its way waits for its outcome.
    const isPermission = row.blockedBy === 'policy' || row.blockedBy === 'confirmation';
    if (!isPermission && receiver.isUnderWay(row.idempotencyKey)) {
      return this.#resolve(runId, effectId, cluster.now + MINUTE);
    }
    const isEnded = isOver(this.#stateOf(runId));
    const outcome = row.resolution?.outcome ?? (isEnded ? this.#truthAtEnd(row) : this.#truth(row));
    const found = isPermission ? undefined : receiver.find(row.idempotencyKey);
    const result = outcome === 'recorded' && found ? { result: { serial: found.serial } } : {};
    if (outcome === 'failed' && !isEnded) this.failed.add(runId);
    if (outcome === 're-execute' && row.blockedBy === 'policy') {
      const { what } = JSON.parse(row.requestText ?? '{}') as { readonly what: string };
      this.allowed.set(what, (this.allowed.get(what) ?? new Set()).add(runId));
    }
    await unlessTooLate(resolveEffect(deps, { ...asked, tenantId, outcome, ...result }));
  }

  #stateOf(runId: string): RunState {
    const run = this.#options.db.runs.get(runId);
    if (!run) throw new Error(`there is no run ${runId}`);
    return run.snapshot;
  }

  /** The outcome at the end of a run, for which no call is made any more. */
  #truthAtEnd({ idempotencyKey }: EffectRecord): Resolution {
    return this.#options.receiver.find(idempotencyKey) ? 'recorded' : 'failed';
  }

  #truth({ blockedBy, idempotencyKey }: EffectRecord): Resolution {
    const { draw, receiver } = this.#options;
    if (blockedBy === 'policy') {
      return draw.weighted([
        [6, 're-execute'],
        [3, 'recorded'],
        [1, 'failed'],
      ]);
    }
    if (blockedBy === 'confirmation') return draw.chance(0.9) ? 're-execute' : 'failed';
    if (receiver.find(idempotencyKey)) return 'recorded';
    return draw.chance(0.85) ? 're-execute' : 'failed';
  }

  #succeed(source: RunState): void {
    const { cluster, draw, tenantId, db } = this.#options;
    const mode =
      source.status !== 'completed' && draw.chance(0.5)
        ? ('resume' as const)
        : draw.pick(['replay', 'replay', 'fork'] as const);
    const input = mode === 'fork' && draw.chance(0.5) ? { input: { value: this.#otherInput(source) } } : {};
    const from = this.#from(source);
    const salt = draw.below(2 ** 31);
    cluster.plan(cluster.now + (draw.chance(0.7) ? draw.below(3_000) : draw.below(30 * MINUTE)), {
      label: `${mode} ${source.id.slice(-4)}`,
      work: async (deps) => {
        if (!db.runs.has(source.id)) return;
        const request = { runId: source.id, tenantId, mode, actor: 'u1', force: false };
        const key = `api:c.trial:${salt}`;
        await unlessTooLate(startSuccessor(deps, { ...request, ...input, ...from, key, requestHash: mode }));
      },
    });
  }

  #otherInput({ input }: RunState): unknown {
    if (!('text' in input)) throw new Error('the input is not inline');
    return { ...(JSON.parse(input.text) as object), salt: this.#options.draw.below(3) };
  }

  #from({ type, checkpointHead, steps }: RunState): { from?: From } {
    const { draw, program } = this.#options;
    if (draw.chance(0.5)) return {};
    if (type === program.type && draw.chance(0.7)) return { from: { step: draw.pick(program.steps).id } };
    const seqs = [...steps.keys()].flatMap((key) => {
      const step = steps.get(key);
      return step?.phase === 'done' ? [step.seq] : [];
    });
    return { from: { checkpoint: seqs.length > 0 ? draw.pick(seqs) : checkpointHead } };
  }

  get #soon(): number {
    const { draw, cluster } = this.#options;
    return cluster.now + (draw.chance(0.7) ? draw.below(3_000) : draw.below(120 * MINUTE));
  }
}

async function unlessTooLate(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    const isLate = error instanceof CairnError && (TOO_LATE.has(error.code) || isNoCheckpoint(error));
    if (!isLate) throw error;
  }
}

/** True for a step whose end is not a checkpoint of this run, because it was reused. */
function isNoCheckpoint({ code, message }: CairnError): boolean {
  return code === 'INVALID_INPUT' && message.includes('has no checkpoint');
}
