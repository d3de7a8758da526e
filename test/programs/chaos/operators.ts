/** The operators of the installation: they start the run, and sometimes cancel it or pause everything for a while. */
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';
import type { MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { setKillSwitch } from '../../../packages/cairn/src/operations/runtime/kill-switch.ts';
import {
  pauseWorkflow,
  unpauseWorkflow,
} from '../../../packages/cairn/src/operations/runtime/pause-workflow.ts';
import { startRun } from '../../../packages/cairn/src/operations/start/start-run.ts';
import { continueRun, suspendRun } from '../../../packages/cairn/src/operations/suspend-run.ts';
import type { Draw } from '../data/draw.ts';
import type { Program, ProgramInput } from '../data/program.ts';
import type { Cluster } from './cluster.ts';
import type { SharedDeps } from './worker.ts';

export interface Installation {
  readonly cluster: Cluster;
  readonly db: MemoryDatabase;
  readonly draw: Draw;
  readonly tenantId: string;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Starts the main run of the program; its children are started by runs. */
export function planStart({ cluster, tenantId }: Installation, program: Program, salt: number): void {
  const input: ProgramInput = { path: 'root', salt };
  const request = {
    tenantId,
    environment: 'test',
    input,
    trigger: { source: 'api' },
    source: 'api',
    key: `api:c.trial:${salt}`,
    requestHash: 'h',
  } as const;
  cluster.plan(cluster.now, {
    label: 'start',
    work: (deps) => {
      const workflow = deps.registry.newest(program.type);
      if (!workflow) throw new Error(`no workflow '${program.type}'`);
      return startRun(deps, { ...request, workflow });
    },
  });
}

/** Cancels the run at some time in the first seconds, or days. */
export function planCancel({ cluster, db, draw, tenantId }: Installation): void {
  const at = cluster.now + (draw.chance(0.7) ? draw.below(20_000) : draw.below(3 * DAY));
  cluster.plan(at, {
    label: 'cancel',
    work: async (deps) => {
      const root = [...db.runs.values()].find(({ snapshot }) => !snapshot.parent);
      if (!root) return;
      const request = { runId: root.snapshot.id, tenantId, actor: 'u1', stopKind: 'user' } as const;
      await cancelRun(deps, request).catch((error) => {
        if (!(error instanceof CairnError) || error.code !== 'RUN_TERMINAL_STATE') throw error;
      });
    },
  });
}

/** Suspends an existing run, the main one or a child, for up to two hours. */
export function planSuspension({ cluster, db, draw, tenantId }: Installation): void {
  const at = cluster.now + (draw.chance(0.7) ? draw.below(20_000) : draw.below(DAY));
  const which = draw.random.unit();
  cluster.plan(at, {
    label: 'suspend',
    work: async (deps) => {
      const runs = [...db.runs.keys()];
      const runId = runs[Math.floor(which * runs.length)];
      if (runId === undefined) return;
      const request = { runId, tenantId, actor: 'o1', reason: 'to look first' };
      const isHeld = await suspendRun(deps, request).then(
        () => true,
        (error) => {
          if (!(error instanceof CairnError) || !ENDING.has(error.code)) throw error;
          return false;
        },
      );
      if (!isHeld) return;
      cluster.plan(cluster.now + draw.below(120 * MINUTE), {
        label: 'continue',
        work: async (later) => void (await continueRun(later, request)),
      });
    },
  });
}

/** Refusals of a suspension because the run has ended, or is ending. */
const ENDING: ReadonlySet<string> = new Set(['RUN_TERMINAL_STATE', 'RUN_INVALID_TRANSITION']);

/** Pauses the workflow, or all workflows, for up to two hours. */
export function planPause({ cluster, draw }: Installation, program: Program): void {
  const at = cluster.now + (draw.chance(0.7) ? draw.below(20_000) : draw.below(DAY));
  const all = draw.chance(0.5);
  const turn = (held: boolean) => (deps: SharedDeps) => {
    if (all) return setKillSwitch(deps, { on: held, actor: 'o1', tenantId: 't1' });
    return (held ? pauseWorkflow : unpauseWorkflow)(deps, {
      type: program.type,
      actor: 'o1',
      tenantId: 't1',
    });
  };
  cluster.plan(at, {
    label: 'hold',
    work: async (deps) => {
      await turn(true)(deps);
      // The end of the pause is planned only now, so that a slow pause does not come after it.
      cluster.plan(cluster.now + draw.below(120 * MINUTE), { label: 'let go', work: turn(false) });
    },
  });
}
