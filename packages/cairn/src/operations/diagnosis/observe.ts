/**
 * Observations of a diagnosis. Each query is bounded and independent: one that fails becomes a finding and does not stop
 * the others.
 *
 * Must not: change anything, or reveal tenants and runs.
 */

import { CairnError } from '../../core/errors.ts';
import { declaredType } from '../../core/flow/parts.ts';
import { mapConcurrently } from '../../core/map-concurrently.ts';
import { stoppedBy } from '../../engine/admission.ts';
import type { WorkflowRegistry } from '../../engine/define/registry.ts';
import { changesIn, type KnownPlans } from '../../engine/plans/known-plans.ts';
import type { Clock } from '../../ports/clock.ts';
import { FINDINGS_READ, type FindingStore } from '../../ports/diagnosis/findings.ts';
import type { HeartbeatStore, StoredHeartbeats } from '../../ports/diagnosis/heartbeats.ts';
import type { QueueProbe, SeenQueue, SeenTasks, WatchedQueue } from '../../ports/diagnosis/queue-probe.ts';
import type { SetupProbe } from '../../ports/diagnosis/setup.ts';
import type { StoreProbe } from '../../ports/diagnosis/store-probe.ts';
import type { Log } from '../../ports/log.ts';
import type { RunStatistics } from '../../ports/run-statistics.ts';
import { NOTHING_SET, type RuntimeConfigStore } from '../../ports/runtime-config.ts';
import type { ScheduleStore } from '../../ports/schedule-store.ts';
import * as deployment from './deployment-findings.ts';
import { type DiagnosisFinding, wrong } from './finding.ts';
import * as store from './store-findings.ts';
import * as work from './work-findings.ts';

export interface ObserveDeps {
  readonly storeProbe: StoreProbe;
  readonly queueProbe: QueueProbe;
  readonly heartbeats: HeartbeatStore;
  readonly findings: FindingStore;
  readonly setup: SetupProbe;
  readonly statistics: RunStatistics;
  readonly schedules: ScheduleStore;
  readonly config: RuntimeConfigStore;
  readonly registry: WorkflowRegistry;
  readonly plans: KnownPlans;
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs read, the most overdue first: as many as the scan handles in a minute, at one read each. */
const RUNS_CHECKED = 200;
/** Reading more late schedules would add no information. */
const SCHEDULES_CHECKED = 100;
/** Tenants counted, and versions counted per tenant: two reads for each version. */
const TENANTS_COUNTED = 50;
const VERSIONS_COUNTED = 50;

/** Queues inspected concurrently, two requests each. There may be a hundred of each class. */
const QUEUES_AT_ONCE = 16;

/** Code of a query that failed. */
export const UNSEEN = 'UNSEEN';

/** Observations that change from minute to minute. */
export interface CurrentObservations {
  readonly findings: readonly DiagnosisFinding[];
  /** Undefined if they could not be read. */
  readonly storedHeartbeats: StoredHeartbeats | undefined;
  /** Clock of this instance minus the clock of the store. */
  readonly skewMs: number | undefined;
  readonly waking: work.Waking | undefined;
  /** The queue `drive`. */
  readonly queue: SeenQueue | undefined;
  readonly lateSchedules: { readonly late: number; readonly isCut: boolean } | undefined;
}

/** @throws CairnError UNAVAILABLE if every query failed, even that for the store's time */
export async function observeNow(deps: ObserveDeps): Promise<CurrentObservations> {
  const { heartbeats, storeProbe, queueProbe, schedules, config, setup, clock } = deps;
  const probes = new Probes(deps.log);
  const begunAt = clock.now();
  const stored = await probes.ask('the heartbeats of the scheduled functions', () => heartbeats.read());
  const askedAt = (begunAt + clock.now()) / 2;
  const skewMs = stored && Math.round(askedAt - stored.readAt);
  const now = stored?.readAt ?? clock.now();
  const [waking, queues, late, switches, named] = await Promise.all([
    probes.ask('overdue runs', async () => wakingIn(await storeProbe.waking(RUNS_CHECKED), now)),
    probes.ask('the queue', () =>
      mapConcurrently(queueProbe.queues, QUEUES_AT_ONCE, async (queue) => ({
        ...queue,
        seen: await queueProbe.inspect(now, queue.name),
      })),
    ),
    probes.ask('late schedules', () => schedules.due(now - work.SCHEDULE_LATE_MS, SCHEDULES_CHECKED)),
    probes.ask('the switches', async () => (await config.read())?.config ?? NOTHING_SET),
    probes.ask('runs that make no progress', () => deps.findings.list(FINDINGS_READ)),
  ]);
  if (probes.isUnanswered) throw new CairnError('UNAVAILABLE', 'the store did not respond');
  const lateSchedules = late && { late: late.length, isCut: late.length === SCHEDULES_CHECKED };
  const stop = switches && stoppedBy(switches);
  const findings = [
    ...(skewMs === undefined ? [] : [store.ofClock(skewMs)]),
    ...(switches ? deployment.ofSwitches(switches, now) : []),
    ...(stored ? [...work.ofFunctions(stored), ...work.ofInstallations(stored)] : []),
    ...(waking ? work.ofRuns(waking, stop) : []),
    ...(named ? work.ofNamed(named, now) : []),
    ...work.ofQueues(queues ?? [], now),
    ...(lateSchedules ? [work.ofSchedules(lateSchedules.late, lateSchedules.isCut)] : []),
    ...(stored ? work.ofSample(stored) : []),
    ...deployment.ofSecrets(setup.secrets()),
    ...deployment.ofParameters(setup.wrongParameters()),
    ...probes.unanswered,
  ];
  return {
    findings,
    storedHeartbeats: stored,
    skewMs,
    waking,
    queue: wholeQueue(queues ?? []),
    lateSchedules,
  };
}

export interface SlowObservations {
  readonly findings: readonly DiagnosisFinding[];
}

/** Observations that change slowly or only with deployments, and cost more. */
export async function observeSlowly(deps: ObserveDeps): Promise<SlowObservations> {
  const { storeProbe, heartbeats } = deps;
  const probes = new Probes(deps.log);
  const [indexes, expiry, versions, plans] = await Promise.all([
    probes.ask('the indexes', async () => store.ofIndexes(await storeProbe.indexes())),
    probes.ask('expired documents', async () => {
      const stored = await heartbeats.read();
      return store.ofExpiry(await storeProbe.leftOvers(stored.readAt - store.TTL_GRACE_MS), stored);
    }),
    probes.ask('the versions in use', () => versionsInUse(deps)),
    probes.ask('the recorded definitions', () => changedPlans(deps)),
  ]);
  const found = [indexes, expiry, versions, plans].flatMap((some) => some ?? []);
  return { findings: [...found, ...probes.unanswered] };
}

function wakingIn(runs: Awaited<ReturnType<StoreProbe['waking']>>, now: number): work.Waking {
  const due = runs.filter(({ wakeAt }) => wakeAt <= now);
  const leases = runs.map(({ leasedUntil }) => leasedUntil).filter((until) => until !== undefined);
  return {
    lagMs: Math.max(0, ...due.map(({ wakeAt }) => now - wakeAt)),
    due: due.length,
    held: leases.filter((until) => until > now).length,
    stale: leases.filter((until) => until <= now - work.STALE_AFTER_MS).length,
    behind: runs.filter(
      ({ hasUnpublishedEvents, leasedUntil }) => hasUnpublishedEvents && leasedUntil === undefined,
    ).length,
    isCut: due.length === RUNS_CHECKED,
  };
}

async function versionsInUse({ statistics, registry }: ObserveDeps): Promise<DiagnosisFinding[]> {
  const tenants = await statistics.tenants(TENANTS_COUNTED);
  const inUse = new Map<string, deployment.VersionInUse>();
  let isCut = tenants.length === TENANTS_COUNTED;
  for (const tenantId of tenants) {
    const live = await statistics.liveVersions(tenantId, VERSIONS_COUNTED);
    isCut ||= live.length === VERSIONS_COUNTED;
    for (const { type, planVersion, runs } of live) {
      const name = `${type} ${planVersion}`;
      inUse.set(name, {
        type,
        planVersion,
        runs: runs + (inUse.get(name)?.runs ?? 0),
        isDeployed: registry.pinned(type, planVersion) !== undefined,
        isNewest: registry.newest(declaredType(type))?.planVersion === planVersion,
      });
    }
  }
  return deployment.ofVersions([...inUse.values()], isCut);
}

async function changedPlans({ registry, plans }: ObserveDeps): Promise<DiagnosisFinding[]> {
  const nextOf = (type: string) => (registry.newest(type)?.planVersion ?? 0) + 1;
  return deployment.ofPlans(await changesIn(plans, registry), nextOf);
}

/** Runs the queries of a diagnosis and collects those that failed. */
class Probes {
  readonly unanswered: DiagnosisFinding[] = [];
  readonly #log: Log;
  #answered = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  /** True if every query failed. */
  get isUnanswered(): boolean {
    return this.#answered === 0;
  }

  async ask<T>(what: string, question: () => Promise<T>): Promise<T | undefined> {
    try {
      const answer = await question();
      this.#answered += 1;
      return answer;
    } catch (error) {
      this.#log.warn('diagnosis_unanswered', { what, error });
      this.unanswered.push(
        wrong('UNSEEN', `${what} cannot be seen`, {
          help: 'See diagnosis_unanswered in the log of api. Missing indexes are reported separately.',
          evidence: { question: what },
        }),
      );
      return undefined;
    }
  }
}

type Inspected = WatchedQueue & { readonly seen: SeenQueue };

/** State of the first queue, with the tasks of all queues that could be counted. Undefined: no queue was inspected. */
export function wholeQueue([first, ...others]: readonly Inspected[]): SeenQueue | undefined {
  if (first?.seen.kind !== 'seen') return first?.seen;
  const further = others.flatMap(({ of, seen }) =>
    of === first.name && seen.kind === 'seen' ? [seen.tasks] : [],
  );
  return { ...first.seen, tasks: further.reduce(together, first.seen.tasks) };
}

function together(some: SeenTasks, more: SeenTasks): SeenTasks {
  if (some.kind !== 'counted' || more.kind !== 'counted') return some;
  const due = [some.oldestDueAt, more.oldestDueAt].filter((at) => at !== undefined);
  return {
    kind: 'counted',
    depth: some.depth + more.depth,
    isCut: some.isCut || more.isCut,
    oldestDueAt: due.length === 0 ? undefined : Math.min(...due),
  };
}
