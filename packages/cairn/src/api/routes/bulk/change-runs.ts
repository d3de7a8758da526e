/**
 * `POST /v1/runs/bulk`: one change of many runs. Each run is changed by the handler of its own route, so roles, policies and
 * journals are those of single changes, and each run has its own outcome.
 *
 * A request with an idempotency key keeps its response once every run has a final outcome. Until then a repetition continues with
 * the runs that have none. Changes that a crashed instance completed are answered from their own records.
 */
import type { z } from 'zod';
import { apiKey } from '../../../core/encoding/idempotency-keys.ts';
import type { Json } from '../../../core/encoding/json.ts';
import { CairnError, invalidInput } from '../../../core/errors.ts';
import { workThrough } from '../../../core/map-concurrently.ts';
import { decodeCursor } from '../../../core/search/cursor.ts';
import { matchOf } from '../../../core/search/match.ts';
import { isPlanMissing } from '../../../engine/definition-of-run.ts';
import { type Selected, selectTargets } from '../../../operations/bulk/select.ts';
import { type BulkTarget, distinct } from '../../../operations/bulk/target.ts';
import { oncePerKey, Unfinished } from '../../../operations/once-per-key.ts';
import type { RunFilter } from '../../../ports/run-store.ts';
import { boundCursor, type CursorList, placeOf } from '../../cursors.ts';
import { answerOnce } from '../../mutation.ts';
import { WHICH_RUNS } from '../../openapi/paths/describe.ts';
import type { BulkReport } from '../../openapi/schemas/bulk.ts';
import { DEFAULT_LIMIT } from '../../parameters.ts';
import { queryValues } from '../../query.ts';
import type { DirectChangeHandler } from '../../route.ts';
import { runFilter } from '../read-runs.ts';
import { type BulkSent, changeOne, notReached, previewOne, type Result } from './one-run.ts';

/** Runs of one request that are changed concurrently. The tenant's share of an instance counts requests, not runs. */
const AT_ONCE = 5;
/** No change begins after this time, ms: the response must arrive within the 60 s of a request. */
const TIME_MS = 30_000;

type Report = z.input<typeof BulkReport>;

export const changeRuns: DirectChangeHandler<'POST /v1/runs/bulk'> = {
  async answer(call) {
    assertMakesSense(call);
    if (call.body.dryRun) return report(call, await begun(call), (target) => previewOne(call, target));
    try {
      return await answerOnce(call, async (requestId, { before }) => {
        const named = { ...call, requestId };
        // The records of the runs would not do: those of an earlier day have expired, and the change would be made again.
        const known = before === undefined ? await begun(named) : (before as unknown as Report);
        const made = await report(call, known, (target) => changeOne(named, target));
        if (!made.results.every(isFinal)) throw new Unfinished('some runs have no final outcome yet', made);
        return { status: 200, body: { ...made } as unknown as Json };
      });
    } catch (error) {
      if (error instanceof Unfinished) return error.progress;
      throw error;
    }
  },
};

/** Members of the body that are valid for one act only. */
const ONLY = [
  ['reason', 'cancel'],
  ['note', 'approve'],
] as const;

/** @throws CairnError INVALID_INPUT */
function assertMakesSense({ body, caller }: BulkSent): void {
  const { act, runs, filter, cursor } = body;
  if ((runs === undefined) === (filter === undefined))
    throw invalid('runs', "name the runs either by 'runs' or by 'filter'");
  for (const [name, only] of ONLY)
    if (body[name] !== undefined && act !== only) throw invalid(name, `'${act}' takes no ${name}`);
  if (runs && act !== 'approve' && runs.some((one) => typeof one !== 'string' && (one.stepId ?? one.waitId)))
    throw invalid('runs', `'${act}' takes no stepId or waitId`);
  for (const name of ['cursor', 'limit'] as const)
    if (runs && body[name] !== undefined) throw invalid(name, 'belongs to a filter');
  if (!filter) return;
  if (filter.step !== undefined && act !== 'approve') throw invalid('filter.step', `'${act}' takes no step`);
  if (Object.values(filter).every((value) => value === undefined))
    throw invalid('filter', 'needs at least one member: an empty filter would select every run');
  filterOf(caller, filter);
  if (cursor !== undefined) decodeCursor('runs', placeOf(cursor, listOf({ body, caller })));
}

/** The list that the filter selects. A dry run and the change page through the same list. */
function listOf({ body: { act, filter }, caller }: Pick<BulkSent, 'body' | 'caller'>): CursorList {
  return { tenantId: caller.tenantId, operation: 'changeRuns', parameters: { act, ...filter } };
}

/** @throws CairnError INVALID_INPUT */
function filterOf(
  caller: BulkSent['caller'],
  { step: _, match, ...sent }: NonNullable<BulkSent['body']['filter']>,
): RunFilter {
  const { filter } = runFilter(caller, queryValues(sent, WHICH_RUNS));
  return match === undefined ? filter : { ...filter, match: matchOf(match) };
}

function invalid(field: string, why: string): CairnError {
  return invalidInput(field, `${field}: ${why}`);
}

/** The report before any run is changed. */
async function begun(call: BulkSent & { readonly requestId?: string }): Promise<Begun> {
  const { targets, next } = await selected(call);
  return {
    results: targets.map(notReached),
    next: next === undefined ? undefined : boundCursor(next, listOf(call)),
  };
}

/** With an idempotency key a filter selects once, so that a repetition does not select newer runs. */
async function selected(call: BulkSent & { readonly requestId?: string }): Promise<Selected> {
  const { deps, instance, caller, body, key, requestId, requestHash, trace } = call;
  const { act, runs, filter = {}, limit = DEFAULT_LIMIT, cursor } = body;
  if (runs) return { targets: distinct(runs.map((one) => (typeof one === 'string' ? { runId: one } : one))) };
  const place = cursor === undefined ? undefined : placeOf(cursor, listOf(call));
  const select = () =>
    selectTargets(
      { ...deps, indexedRuns: instance.indexedRuns },
      { act, filter: filterOf(caller, filter), step: filter.step, page: { limit, cursor: place } },
    );
  if (key === undefined || requestId === undefined) return select();
  const outcome = await oncePerKey(
    deps,
    {
      key: apiKey(caller.principal, `bulk:${requestId}:targets`),
      source: 'api',
      tenantId: caller.tenantId,
      requestHash,
      traceId: trace?.traceId,
    },
    async () => ({ status: 200, body: { ...(await select()) } as unknown as Json }),
  );
  if (outcome.kind === 'in_flight') throw new CairnError('UNAVAILABLE', 'the same request is in progress');
  const { status, body: recordedBody } = outcome.response;
  if (status !== 200)
    throw new Error(`the selection was answered ${status}: ${JSON.stringify(recordedBody)}`);
  return recordedBody as unknown as Selected;
}

type Begun = Pick<Report, 'results' | 'next'>;

/** Changes the runs that have no outcome yet. */
async function report(
  { deps: { clock }, body }: BulkSent,
  { results: before, next }: Begun,
  work: (target: BulkTarget) => Promise<Result>,
): Promise<Report> {
  const until = clock.now() + TIME_MS;
  const results = [...before];
  const places = results
    .flatMap((result, place) => (isFinal(result) ? [] : [{ place, target: result }]))
    .values();
  await workThrough(
    () => (clock.now() < until ? places.next().value : undefined),
    AT_ONCE,
    async ({ place, target: { runId, stepId, waitId } }) => {
      results[place] = await work({ runId, stepId, waitId });
    },
  );
  const counted = (outcome: Result['outcome']) => results.filter((one) => one.outcome === outcome).length;
  return {
    act: body.act,
    dryRun: body.dryRun === true,
    counts: {
      done: counted('done'),
      possible: counted('possible'),
      failed: counted('failed'),
      retry: counted('retry'),
    },
    results,
    next,
  };
}

/** Not final: an unexpected failure, and a refusal that the next deployment may end. Both are tried again. */
function isFinal({ outcome, problem }: Result): boolean {
  if (outcome === 'done') return true;
  return outcome === 'failed' && problem !== undefined && problem.status < 500 && !isPlanMissing(problem);
}
