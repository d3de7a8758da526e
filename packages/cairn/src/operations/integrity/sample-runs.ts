/**
 * Verifies a sample of runs: the newest ones of some tenants, and random ones of all tenants. Logs and counts problems
 * and writes nothing.
 *
 * Must not: repair anything; a person decides about that.
 */
import type { ProblemCode } from '../../core/integrity/problems.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { ProblemMetrics } from '../../ports/metrics.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { RunStatistics } from '../../ports/run-statistics.ts';
import type { RunSample } from '../../ports/runs/integrity-store.ts';
import { consistencyOf, consistencyStatusOf } from './check.ts';
import { type Owned, type ReadDocumentsDeps, readDocuments } from './read-documents.ts';

/** Runs checked in one sample, half of them new: at most a few thousand reads an hour. */
const SAMPLE = 50;
/** Tenants whose newest runs are checked. */
const TENANTS = 5;
const NEWEST_OF_EACH = SAMPLE / 2 / TENANTS;
/** Most tenants to draw from. */
const MAX_TENANTS = 1_000;
/** Longer runs are only checked on request, because each event is one billed read. */
const MAX_SAMPLED_EVENTS = 2_000;
/** Time limit of the function, minus the time of one check. */
const TIME_MS = 200_000;
const HOUR_MS = 3_600_000;

export interface SampleDeps extends ReadDocumentsDeps {
  readonly statistics: RunStatistics;
  readonly sample: RunSample;
  /** Undefined if no collector is configured. */
  readonly problems: ProblemMetrics | undefined;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly log: Log;
}

interface SampleReport {
  readonly checked: number;
  readonly inconsistent: number;
  /** Runs that are too long for a sample. */
  readonly passedOver: number;
  /** Runs that could not be checked, or not in time. Each failure is logged. */
  readonly failed: number;
  /** Records of the last hour whose run does not exist. */
  readonly dangling: number;
  /** Number of runs by problem code. */
  readonly problems: Readonly<Record<string, number>>;
}

/** @throws errors of the store while it lists the runs */
export async function sampleRuns(deps: SampleDeps): Promise<SampleReport> {
  const deadline = deps.clock.now() + TIME_MS;
  const problems: Record<string, number> = {};
  const found: OnProblems = (tenantId, codes) => {
    for (const code of codes) {
      problems[code] = (problems[code] ?? 0) + 1;
      deps.problems?.inconsistent({ tenantId, code });
    }
  };
  const report = {
    checked: 0,
    inconsistent: 0,
    passedOver: 0,
    failed: 0,
    dangling: await danglingStarts(deps, found),
    problems,
  };
  for (const runId of await drawn(deps)) {
    if (deps.clock.now() >= deadline) report.failed += 1;
    else report[await checkSampled(deps, runId, found)] += 1;
  }
  report.checked += report.inconsistent;
  return report;
}

async function drawn({ statistics, sample, random }: SampleDeps): Promise<ReadonlySet<string>> {
  const tenants = [...(await statistics.tenants(MAX_TENANTS))];
  const runIds = new Set<string>();
  for (let i = 0; i < TENANTS && tenants.length > 0; i += 1) {
    const [tenantId] = tenants.splice(Math.floor(random.unit() * tenants.length), 1);
    if (tenantId === undefined) break;
    for (const runId of await sample.newest(tenantId, NEWEST_OF_EACH)) runIds.add(runId);
  }
  for (const runId of await sample.following(random.runId(), SAMPLE - runIds.size)) runIds.add(runId);
  return runIds;
}

/** Receives each run with problems. */
type OnProblems = (tenantId: string, codes: readonly ProblemCode[]) => void;

async function checkSampled(
  deps: SampleDeps,
  runId: string,
  onProblems: OnProblems,
): Promise<'checked' | 'inconsistent' | 'passedOver' | 'failed'> {
  let isTooLong = false;
  const isWanted = ({ head = 0 }: Owned) => {
    isTooLong = head > MAX_SAMPLED_EVENTS;
    return !isTooLong;
  };
  try {
    const read = await readDocuments(deps, runId, isWanted);
    // The run was deleted after it was chosen.
    if (!read) return isTooLong ? 'passedOver' : 'checked';
    const { run, unread } = read;
    const { problems, head } = consistencyOf(run, unread);
    if (problems.length === 0) return 'checked';
    const tenantId = run.journal.identity?.tenantId ?? run.snapshot?.tenantId ?? '';
    const codes = [...new Set(problems.map(({ code }) => code))];
    const subjects = problems.slice(0, MAX_SUBJECTS).map(({ subject }) => subject);
    const found = {
      runId,
      tenantId,
      verdict: consistencyStatusOf(problems),
      codes,
      problems: problems.length,
      subjects,
    };
    deps.log.error('run_inconsistent', { ...found, ...(head === undefined ? {} : { head }) });
    onProblems(tenantId, codes);
    return 'inconsistent';
  } catch (error) {
    deps.log.warn('run_not_checked', { runId, error });
    return 'failed';
  }
}

/** Documents named in one line of the log. */
const MAX_SUBJECTS = 10;

/** Start records whose run does not exist: a repeated request would be answered with a missing run. */
async function danglingStarts(deps: SampleDeps, onProblems: OnProblems): Promise<number> {
  const started = await deps.sample.startedSince(deps.clock.now() - HOUR_MS, SAMPLE);
  const existing = await deps.sample.existing([...new Set(started.map(({ runId }) => runId))]);
  const dangling = started.filter(({ runId }) => !existing.has(runId));
  const codes: readonly ProblemCode[] = ['IDEMPOTENCY_RECORD_ELSEWHERE'];
  for (const { runId, tenantId } of dangling) {
    deps.log.error('run_inconsistent', { runId, tenantId, verdict: 'needs_person', codes });
    onProblems(tenantId, codes);
  }
  return dangling.length;
}
