/** Routes of the control port: meter, faults, export and import, clock, processes, and the reset call of the Firestore emulator. */
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { FaultRule, InjectedFault } from '@cairn/local-firestore/faults';
import { LATEST_MS, type MovableClock } from '@cairn/local-kit/time/clock';
import type { StandInFault } from '../stand-in/faults.ts';
import { ControlError, type Route } from './control.ts';
import { estimatedCostUsd, type MeteredOperations } from './cost.ts';

interface ControlledFaults<Kind = InjectedFault> {
  set(rules: readonly FaultRule<Kind>[], seed: number): void;
  clear(): void;
  injected(): Record<string, number>;
}

/** The part of the Firestore server that the control port uses; absent for an external one. */
export interface ControlledFirestore {
  readonly meter: {
    snapshot(): { readonly total: MeteredOperations };
    /** Undefined: no document of that run was used. */
    run(runId: string): MeteredOperations | undefined;
    reset(): void;
  };
  readonly faults: ControlledFaults;
  exportTo(file: string): void;
  importFrom(file: string): void;
  reset(projectId?: string): void;
}

interface RoutesOptions {
  readonly firestore: ControlledFirestore | undefined;
  /** Absent when an external server is used. */
  readonly pubsub: { readonly faults: ControlledFaults } | undefined;
  /** Absent when an external server is used. */
  readonly github: { readonly faults: ControlledFaults<StandInFault> } | undefined;
  readonly slack: { readonly faults: ControlledFaults<StandInFault> };
  readonly clock: MovableClock;
  pids(): unknown;
  /** Counters of the other servers, added to the meter's answer. */
  counts(): object;
}

export function controlRoutes({
  firestore,
  pubsub,
  github,
  slack,
  clock,
  pids,
  counts,
}: RoutesOptions): Route[] {
  const local = () => served('Firestore', firestore);
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
    // Cheap to poll, because it omits Firestore's tables, which grow with the number of used documents.
    { method: 'GET', path: /^\/meter\/tasks$/, answer: counts },
    {
      method: 'GET',
      path: /^\/meter\/runs\/(?<runId>[^/]+)$/,
      answer({ params }) {
        const run = local().meter.run(String(params.runId));
        if (run === undefined) throw new ControlError(404, `no usage recorded for run '${params.runId}'`);
        return { ...run, estimatedCostUsd: estimatedCostUsd(run) };
      },
    },
    { method: 'POST', path: /^\/meter\/reset$/, answer: () => local().meter.reset() },
    ...faultRoutes(/^\/faults$/, () => local().faults, 'readFaults'),
    ...faultRoutes(/^\/faults\/pubsub$/, () => served('Pub/Sub', pubsub).faults, 'readFaults'),
    ...faultRoutes(/^\/faults\/github$/, () => served('GitHub', github).faults, 'readStandInFaults'),
    ...faultRoutes(/^\/faults\/slack$/, () => slack.faults, 'readStandInFaults'),
    {
      method: 'POST',
      path: /^\/export$/,
      answer({ body }) {
        const file = fileOf(body);
        if (existsSync(file))
          throw new ControlError(409, `${file} already exists; an export does not overwrite files`);
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
          throw new ControlError(400, 'the body must be {"ms": n} with n >= 0: the clock only moves forward');
        }
        if (clock.now() + ms > LATEST_MS)
          throw new ControlError(400, `the clock cannot be moved past ${new Date(LATEST_MS).toISOString()}`);
        clock.advance(ms);
        return clockNow();
      },
    },
    {
      method: 'DELETE',
      path: /^\/emulator\/v1\/projects\/(?<project>[^/]+)\/databases\/(?<database>[^/]+)\/documents$/,
      answer({ params }) {
        if (params.database !== '(default)') {
          throw new ControlError(501, `only the database (default) can be reset, not '${params.database}'`);
        }
        local().reset(params.project);
      },
    },
  ];
}

function served<T>(name: string, server: T | undefined): T {
  if (server === undefined) throw new ControlError(501, `${name} is not served by this local cloud`);
  return server;
}

type Readers = typeof import('./fault-rules.ts');

/** The faults depend on the server; `reader` parses them. */
function faultRoutes<Reader extends keyof Readers>(
  path: RegExp,
  faults: () => ControlledFaults<ReturnType<Readers[Reader]>['rules'][number]['fault']>,
  reader: Reader,
): Route[] {
  return [
    { method: 'GET', path, answer: () => ({ injected: faults().injected() }) },
    {
      method: 'PUT',
      path,
      async answer({ body }) {
        const readers = await import('./fault-rules.ts');
        const { seed, rules } = readers[reader](body) as ReturnType<Readers[Reader]>;
        faults().set(rules, seed);
      },
    },
    { method: 'DELETE', path, answer: () => faults().clear() },
  ];
}

/** The path must be absolute, because this process has another working directory than the caller. */
function fileOf(body: unknown): string {
  const file = (body as { file?: unknown } | undefined)?.file;
  if (typeof file !== 'string' || !isAbsolute(file)) {
    throw new ControlError(400, 'the body must be {"file": "/absolute/path"}');
  }
  return file;
}
