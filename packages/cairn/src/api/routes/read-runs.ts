/** Reads runs of the caller's tenant: one, a list, a search, counts, statistics, and the sublists of a run. */
import { blockedOn } from '../../core/decisions/blocked.ts';
import { leaseWaitOf } from '../../core/decisions/lease-wait.ts';
import { seqId } from '../../core/encoding/ids.ts';
import { invalidInput } from '../../core/errors.ts';
import { isFindingCurrent } from '../../core/findings.ts';
import { WAITS_FOR, type WaitsFor } from '../../core/run/now/waits-for.ts';
import { iso } from '../../core/run/readable.ts';
import { isOver, type RunState } from '../../core/run/state.ts';
import { knownWord, runsCalled, type Vocabulary } from '../../core/run/vocabulary.ts';
import { encodeCursor } from '../../core/search/cursor.ts';
import { matchOf } from '../../core/search/match.ts';
import { INDEXED } from '../../core/search/match-index.ts';
import { MIN_TIME } from '../../core/time.ts';
import { CONFIG_AGE_MS } from '../../engine/admission.ts';
import { deployedFor } from '../../engine/definition-of-run.ts';
import { located } from '../../engine/stored-text.ts';
import { withCurrentSchemas } from '../../engine/waits/current-schemas.ts';
import { listLogs as linesOf } from '../../operations/list-logs.ts';
import { listMemos as memosOf } from '../../operations/list-memos.ts';
import { findRuns } from '../../operations/search/find-runs.ts';
import { byIndex, matchingRuns } from '../../operations/search/matching-runs.ts';
import { readStatistics } from '../../operations/search/read-statistics.ts';
import { sortedRuns } from '../../operations/search/sorted-runs.ts';
import type { ListedRun, LoadedRun, Page, PageRequest, RunFilter } from '../../ports/run-store.ts';
import type { Caller } from '../auth.ts';
import type { VOCABULARY, WHICH_RUNS } from '../openapi/paths/describe.ts';
import type { QueryValues } from '../parameters.ts';
import type { ReadHandler, RouteCall } from '../route.ts';
import { blockedView, listedBlocked } from '../views/blocked.ts';
import { checkpointView, eventView, stepView } from '../views/documents.ts';
import { findingView } from '../views/finding.ts';
import { leaseWaitView, runSummary, runView, silentSinceView, type View } from '../views/run.ts';
import { withRunning } from '../views/running.ts';
import { stoppedView } from '../views/workflow.ts';
import { ownRun } from './own-run.ts';
import { ownRunAfterWait } from './stream/await-end.ts';

/** Values of the query parameters that select runs. */
type RunSelection = Partial<QueryValues<typeof WHICH_RUNS & typeof VOCABULARY>>;

/** `GET /v1/runs`, newest first. Lists read snapshots, which may lag behind a running run by about a second. */
export const listRuns: ReadHandler<'GET /v1/runs'> = async ({
  deps,
  instance: { indexedRuns },
  caller,
  query,
}) => {
  const { topLevel, match, sort = 'newest', limit, cursor, ...others } = query;
  const { filter: all, vocabulary } = runFilter(caller, others);
  const filter = {
    ...all,
    ...(topLevel && { topLevel }),
    ...(match !== undefined && { match: matchOf(match) }),
  };
  const call = { limit, cursor };
  const page: Page<ListedRun> =
    sort === 'newest'
      ? await matchingRuns({ ...deps, indexedRuns }, filter, call)
      : await sortedRuns(deps, await byIndex({ indexedRuns }, filter), {
          ...call,
          order: sort,
        });
  const now = deps.clock.now();
  return pageAnswer(page, (run) => ({
    ...runSummary(run, vocabulary),
    ...listedBlocked(deps.registry, run, now),
  }));
};

/** `GET /v1/search`. Runs that do not exist and runs of other tenants give the same empty response. */
export const searchRuns: ReadHandler<'GET /v1/search'> = async ({ deps, caller, query }) => {
  const now = deps.clock.now();
  const found = await findRuns(deps, caller.tenantId, query.q);
  return {
    items: found.map(({ by, run }) => ({
      by,
      run: { ...runSummary(run, query.vocabulary), ...listedBlocked(deps.registry, run, now) },
    })),
  };
};

/** `GET /v1/runs/counts`: number of runs by status. */
export const readRunCounts: ReadHandler<'GET /v1/runs/counts'> = ({ instance, caller, query }) =>
  instance.runCounts.count(runFilter(caller, query).filter);

/** Period without `since`, ms. */
const DEFAULT_STRETCH_MS = 86_400_000;

/** `GET /v1/runs/statistics`: number of runs in a period, how they ended, and why they failed. */
export const readRunStatistics: ReadHandler<'GET /v1/runs/statistics'> = async ({ deps, caller, query }) => {
  const { createdFrom, createdBefore, ...filter } = runFilter(caller, query).filter;
  const until = createdBefore ?? deps.clock.now();
  const from = createdFrom ?? Math.max(MIN_TIME, until - DEFAULT_STRETCH_MS);
  if (from >= until)
    throw invalidInput('since', 'since: the time does not lie before its end', {
      help: 'Send a since before until, or before now.',
    });
  const { parts, causes, ...read } = await readStatistics(deps.store, filter, { from, until });
  return {
    ...read,
    from: iso(read.from),
    until: iso(read.until),
    parts: parts.map((part) => ({ ...part, from: iso(part.from) })),
    causes: causes.map(({ last, ...cause }) => ({ ...cause, last: { ...last, at: iso(last.at) } })),
  };
};

/**
 * `GET /v1/runs/{id}`: never stale, because the tail of the journal is folded over the snapshot (J7). A large input or result is
 * referenced, not shown: the two together may exceed the size of a response. A run that has not ended takes one more read for the
 * finding about why it makes no progress; the switches of the operators are read once every three seconds.
 */
export const readRun: ReadHandler<'GET /v1/runs/{id}'> = async (call) => {
  const { store, diagnosis, registry, runtime } = call.deps;
  const { vocabulary } = call.query;
  const run = await ownRunAfterWait(call);
  const { state } = run;
  const [input, result, named, config] = await Promise.all([
    located(store, state.id, state.input),
    state.result && located(store, state.id, state.result),
    isOver(state) ? undefined : diagnosis.findings.find(state.id),
    isOver(state) ? undefined : runtime.current(CONFIG_AGE_MS),
  ]);
  const finding = named && isFindingCurrent(named, state) ? findingView(named) : undefined;
  const deployed = deployedFor(registry, state);
  const blocked = blockedOn(state, deployed, run.readAt);
  const waits = withCurrentSchemas(registry, state, state.waits);
  return {
    ...runView({ ...run, state: { ...state, waits } }, { input, result }, vocabulary),
    leaseWait: leaseWaitView(run, leaseWaitOf(state, deployed)),
    silentSince: silentSinceView(run, call.deps),
    finding,
    stopped: config && stoppedView(config, state, call.caller),
    blocked: blocked && blockedView(blocked, state),
  };
};

/** `GET /v1/runs/{id}/events`, oldest first. `after` applies to the first page only: later pages have a cursor. */
export const listEvents: ReadHandler<'GET /v1/runs/{id}/events'> = (call) => {
  const { after } = call.query;
  const first = after ? encodeCursor('events', [0, seqId(after)]) : undefined;
  return listUnder(call, {
    read: ({ limit, cursor = first }) => call.deps.store.listEvents(call.params.id, { limit, cursor }),
    view: eventView,
  });
};

/** `GET /v1/runs/{id}/steps`, by step id. Includes running steps, which have no document yet. */
export const listSteps: ReadHandler<'GET /v1/runs/{id}/steps'> = (call) =>
  listUnder(call, {
    read: async (page, run) => withRunning(await call.deps.store.listSteps(call.params.id, page), page, run),
    view: stepView,
  });

/** `GET /v1/runs/{id}/checkpoints`, oldest first. A large output is referenced: see read-output.ts. */
export const listCheckpoints: ReadHandler<'GET /v1/runs/{id}/checkpoints'> = (call) =>
  listUnder(call, {
    read: (page) => call.deps.store.listCheckpoints(call.params.id, page),
    view: checkpointView,
  });

interface RunListing<T> {
  readonly read: (page: PageRequest, run: LoadedRun) => Promise<Page<T>>;
  readonly view: (item: T, run: RunState) => View;
}

async function listUnder<T>(
  call: Pick<RouteCall<'GET /v1/runs/{id}/steps'>, 'deps' | 'caller' | 'params' | 'query'>,
  { read, view }: RunListing<T>,
): Promise<object> {
  const run = await ownRun(call);
  return pageAnswer(await read(call.query, run), (item) => view(item, run.state));
}

/** The filter for runs of the caller's tenant. @throws CairnError INVALID_INPUT */
export function runFilter(
  { tenantId }: Pick<Caller, 'tenantId'>,
  query: RunSelection,
): { readonly filter: RunFilter; readonly vocabulary: Vocabulary } {
  const { status, waitsFor, type, repoId, threadId, tag, since, until, vocabulary = 'cairn' } = query;
  if (tag?.startsWith(INDEXED)) throw invalidInput('tag', 'tag: no tag begins so');
  const named = {
    waitsFor: waitsFor === undefined ? undefined : waitingWord(waitsFor),
    type,
    repoId,
    threadId,
    tag,
    createdFrom: since,
    createdBefore: until,
  };
  return { filter: { tenantId, ...named, ...statusFilter(status, vocabulary) }, vocabulary };
}

/** @throws CairnError INVALID_INPUT */
function waitingWord(word: string): WaitsFor {
  const status = knownWord(word)?.status;
  const waiting = WAITS_FOR.find((one) => one === status);
  if (waiting) return waiting;
  throw invalidInput('waitsFor', `waitsFor: nothing waits for "${word}"`, {
    help: `Use one of ${WAITS_FOR.join(', ')}.`,
  });
}

function statusFilter(
  word: string | undefined,
  vocabulary: Vocabulary,
): Pick<RunFilter, 'status' | 'stopKind'> {
  if (word === undefined) return {};
  const words = [...new Set(word.split(','))];
  const called = words.map((one) => runsCalled(one, vocabulary));
  const stopKinds = called.find((one) => one.stopKinds)?.stopKinds;
  if (stopKinds && words.length > 1)
    throw invalidInput('status', `status: "${word}" cannot be requested in one list`, {
      help: 'Ask for runs that were halted, or cancelled otherwise, by themselves.',
    });
  const statuses = [...new Set(called.flatMap((one) => one.statuses))];
  const [only, ...others] = statuses;
  return { status: only && (others.length === 0 ? only : statuses), stopKind: stopKinds };
}

/** `next`, if present, is the `cursor` of the next page. */
function pageAnswer<T>({ items, ...page }: Page<T>, view: (item: T) => View): object {
  return { items: items.map(view), ...page };
}

/** `GET /v1/runs/{id}/logs`, oldest first. Lines of running bodies appear within three seconds. */
export const listLogs: ReadHandler<'GET /v1/runs/{id}/logs'> = async (call) => {
  const { step, level, ...page } = call.query;
  const request = { filter: { step, level }, page };
  // The run is read before its lines, so that a run reported as ended has the lines of its last commit.
  const { state } = await ownRun(call);
  const { items, ...more } = await linesOf(call.deps.logs, state.id, request);
  return { items: items.map(({ at, ...line }) => ({ ...line, at: iso(at) })), ...more, ended: isOver(state) };
};

/** `GET /v1/runs/{id}/memos?step=`, by name. */
export const listMemos: ReadHandler<'GET /v1/runs/{id}/memos'> = async (call) => {
  const { step, revision, undoes, ...page } = call.query;
  const found = await memosOf(call.deps.store, await ownRun(call), { step, revision, undoes, page });
  const { items, revision: shown, ...more } = found;
  const of = { step, revision: shown, undoes: undoes || undefined };
  return {
    items: items.map(({ recordedAt, ...memo }) => ({ ...of, ...memo, recordedAt: iso(recordedAt) })),
    ...more,
  };
};
