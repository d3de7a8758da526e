/** `check`: finds problems in the documents of a run. It cannot write. */
import { isRunId } from '../../core/encoding/ids.ts';
import { checkRun } from '../../core/integrity/check-run.ts';
import { externalProblems } from '../../core/integrity/external.ts';
import type { RunAsFound } from '../../core/integrity/found.ts';
import { type ConsistencyProblem, isBlocking } from '../../core/integrity/problems.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import { type RunOfTenant, runNotFound } from '../append-to-run.ts';
import { isOwnExternal } from '../effects/external.ts';
import {
  type IsWanted,
  isThere,
  type ReadDocumentsDeps,
  type ReadRun,
  readDocuments,
  readRows,
} from './read-documents.ts';

export interface ConsistencyReport {
  readonly runId: string;
  /** The store's time, epoch ms. */
  readonly checkedAt: number;
  /** Number of valid events in the journal; undefined if it is damaged, and for an owner of effects without a run. */
  readonly head: number | undefined;
  readonly problems: readonly ConsistencyProblem[];
  /** Ids of checkpoints whose large value was not read back. */
  readonly unread: readonly string[];
}

/** `healable`: a repair fixes every problem. `broken`: the journal itself is damaged, and nothing can be repaired. */
export const CONSISTENCY_STATUSES = ['consistent', 'healable', 'needs_person', 'broken'] as const;
type ConsistencyStatus = (typeof CONSISTENCY_STATUSES)[number];

/** @param which a run, or an owner of effects without a run. @throws CairnError RUN_NOT_FOUND, UNAVAILABLE, PAYLOAD_TOO_LARGE */
export async function checkConsistency(
  deps: ReadDocumentsDeps,
  which: RunOfTenant,
): Promise<ConsistencyReport> {
  if (isOwnExternal(which.runId, which.tenantId)) return checkExternal(deps, which.runId);
  const { run, unread } = await readOwnDocuments(deps, which);
  return consistencyOf(run, unread);
}

async function checkExternal(deps: ReadDocumentsDeps, owner: string): Promise<ConsistencyReport> {
  const { rows, readAt } = await sendUntilKnown(deps, () =>
    deps.reader.atOneMoment(owner, async (reader) => {
      const { readAt } = await reader.snapshot();
      return { rows: await readRows(reader), readAt };
    }),
  );
  if (rows.length === 0) throw runNotFound();
  return {
    runId: owner,
    checkedAt: readAt,
    head: undefined,
    problems: externalProblems(owner, rows),
    unread: [],
  };
}

export function consistencyOf(run: RunAsFound, unread: readonly string[]): ConsistencyReport {
  const { runId, readAt: checkedAt, journal } = run;
  return { runId, checkedAt, head: journal.state?.head, problems: checkRun(run), unread };
}

export function consistencyStatusOf(problems: readonly ConsistencyProblem[]): ConsistencyStatus {
  if (problems.length === 0) return 'consistent';
  if (problems.some(isBlocking)) return 'broken';
  return problems.every(({ healable }) => healable) ? 'healable' : 'needs_person';
}

/**
 * @throws CairnError RUN_NOT_FOUND, also for a run whose tenant cannot be determined; UNAVAILABLE, PAYLOAD_TOO_LARGE
 */
export async function readOwnDocuments(deps: ReadDocumentsDeps, which: RunOfTenant): Promise<ReadRun> {
  const { runId } = which;
  const read = isRunId(runId) ? await readDocuments(deps, runId, isOf(which)) : undefined;
  if (!read) throw runNotFound();
  return read;
}

/** Reads only the documents that determine the tenant of the run, however damaged it is. @throws CairnError RUN_NOT_FOUND, UNAVAILABLE */
export async function assertOwnRun(deps: ReadDocumentsDeps, which: RunOfTenant): Promise<void> {
  const { runId } = which;
  if (!isRunId(runId) || !(await isThere(deps, runId, isOf(which)))) throw runNotFound();
}

function isOf({ tenantId }: RunOfTenant): IsWanted {
  return (owned) => owned.tenantId !== undefined && owned.tenantId === tenantId;
}
