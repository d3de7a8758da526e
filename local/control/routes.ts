/** The routes every local cloud has: meter, faults, export and import, clock, processes, and the Firestore emulator's own reset call. */
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { FaultRule } from '../firestore/faults.ts';
import type { MovableClock } from '../time/clock.ts';
import { estimatedCostUsd, type Operations } from './cost.ts';
import { ControlError, type Route } from './route.ts';

export interface ControlledFaults {
  set(rules: readonly FaultRule[], seed: number): void;
  clear(): void;
  injected(): Record<string, number>;
}

/** What the control port needs of the Firestore server; absent when an outside one is used. */
export interface ControlledFirestore {
  readonly meter: {
    snapshot(): { readonly total: Operations };
    /** Undefined: no document of that run was ever touched. */
    run(runId: string): Operations | undefined;
    reset(): void;
  };
  readonly faults: ControlledFaults;
  exportTo(file: string): void;
  importFrom(file: string): void;
  reset(projectId?: string): void;
}

export interface RoutesOptions {
  readonly firestore: ControlledFirestore | undefined;
  /** Absent when an outside one is used. */
  readonly pubsub: { readonly faults: ControlledFaults } | undefined;
  readonly clock: MovableClock;
  pids(): unknown;
  /** Counters of the other servers, added to the meter's answer. */
  counts(): object;
}

export function controlRoutes({ firestore, pubsub, clock, pids, counts }: RoutesOptions): Route[] {
  const local = () => {
    if (firestore === undefined) throw new ControlError(501, 'Firestore is not served by this local cloud');
    return firestore;
  };
  const clockNow = () => ({ now: new Date(clock.now()).toISOString(), offsetMs: clock.offsetMs() });
  return [
    { method: 'GET', path: /^\/pids$/, answer: pids },
    {
      method: 'GET',
      path: /^\/meter$/,
      answer() {
        const firestore = local().meter.snapshot();
        return { firestore, estimatedCostUsd: estimatedCostUsd(firestore.total), ...counts() };
      },
    },
    // Without Firestore's tables, which grow with the documents touched: cheap enough to poll.
    { method: 'GET', path: /^\/meter\/tasks$/, answer: counts },
    {
      method: 'GET',
      path: /^\/meter\/runs\/(?<runId>[^/]+)$/,
      answer({ params }) {
        const run = local().meter.run(String(params.runId));
        if (run === undefined) throw new ControlError(404, `nothing was metered for run '${params.runId}'`);
        return { ...run, estimatedCostUsd: estimatedCostUsd(run) };
      },
    },
    { method: 'POST', path: /^\/meter\/reset$/, answer: () => local().meter.reset() },
    ...faultRoutes(/^\/faults$/, () => local().faults),
    ...faultRoutes(/^\/faults\/pubsub$/, () => {
      if (pubsub === undefined) throw new ControlError(501, 'Pub/Sub is not served by this local cloud');
      return pubsub.faults;
    }),
    {
      method: 'POST',
      path: /^\/export$/,
      answer({ body }) {
        const file = fileOf(body);
        if (existsSync(file)) throw new ControlError(409, `${file} exists; an export overwrites nothing`);
        local().exportTo(file);
        return { file };
      },
    },
    {
      method: 'POST',
      path: /^\/import$/,
      answer({ body }) {
        const file = fileOf(body);
        if (!existsSync(file)) throw new ControlError(404, `${file} does not exist`);
        local().importFrom(file);
        return { file };
      },
    },
    { method: 'GET', path: /^\/clock$/, answer: clockNow },
    {
      method: 'POST',
      path: /^\/clock\/advance$/,
      answer({ body }) {
        const ms = (body as { ms?: unknown } | undefined)?.ms;
        if (typeof ms !== 'number' || !Number.isFinite(ms) || ms < 0) {
          throw new ControlError(
            400,
            'the body must be {"ms": n} with n >= 0: a clock is only moved forward',
          );
        }
        clock.advance(ms);
        return clockNow();
      },
    },
    {
      method: 'DELETE',
      path: /^\/emulator\/v1\/projects\/(?<project>[^/]+)\/databases\/(?<database>[^/]+)\/documents$/,
      answer({ params }) {
        if (params.database !== '(default)') {
          throw new ControlError(501, `only database (default) can be reset, not '${params.database}'`);
        }
        local().reset(params.project);
      },
    },
  ];
}

function faultRoutes(path: RegExp, faults: () => ControlledFaults): Route[] {
  return [
    { method: 'GET', path, answer: () => ({ injected: faults().injected() }) },
    {
      method: 'PUT',
      path,
      async answer({ body }) {
        const { readFaults } = await import('./fault-rules.ts');
        const { seed, rules } = readFaults(body);
        faults().set(rules, seed);
      },
    },
    { method: 'DELETE', path, answer: () => faults().clear() },
  ];
}

/** Absolute: the directory this process runs in is not the caller's. */
function fileOf(body: unknown): string {
  const file = (body as { file?: unknown } | undefined)?.file;
  if (typeof file !== 'string' || !isAbsolute(file)) {
    throw new ControlError(400, 'the body must be {"file": "/absolute/path"}');
  }
  return file;
}
