/** Reading runs: one, a list, and the lists under one. Only ever the caller's tenant. */

import { blockedOn } from '../../core/decisions/blocked.ts';
import { leaseWaitOf } from '../../core/decisions/lease-wait.ts';
import { isRunId } from '../../core/encoding/ids.ts';
import { CairnError } from '../../core/errors.ts';
import { stillStands } from '../../core/findings.ts';
import { optional } from '../../core/optional.ts';
import { WAITS_FOR, type WaitsFor } from '../../core/run/now/waits-for.ts';
import { isOver, type RunState } from '../../core/run/state.ts';
import { canonicalStatus, runsCalled, type Vocabulary } from '../../core/run/vocabulary.ts';
import { deployedFor } from '../../engine/deployed.ts';
import { located } from '../../engine/stored-text.ts';
import { runNotFound } from '../../operations/outside-append.ts';
import type { LoadedRun, Page, PageRequest, RunFilter, RunStore } from '../../ports/run-store.ts';
import type { Caller } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';
import { pageRequest, type Query, readQuery, timeOf, vocabularyOf } from '../query.ts';
import { blockedView, listedBlocked } from '../views/blocked.ts';
import { checkpointView, eventView, stepView } from '../views/documents.ts';
import { findingView } from '../views/finding.ts';
import { leaseWaitView, runSummary, runView, type View } from '../views/run.ts';
import { withRunning } from '../views/running.ts';

/** Parameters that say which runs a list is of, and in whose words. */
export const RUN_FILTERS = [
  'status',
  'waitsFor',
  'type',
  'repoId',
  'threadId',
  'since',
  'until',
  'vocabulary',
] as const;

/** `GET /v1/runs`, newest first. Lists read snapshots, which may lag behind a run under way by about a second. */
export async function listRuns({ start, registry }: ApiDeps, caller: Caller, url: string): Promise<Response> {
  const query = readQuery(url, [...RUN_FILTERS, 'limit', 'cursor']);
  const { filter, vocabulary } = runFilter(caller, query);
  const page = await start.store.listRuns(filter, pageRequest(query));
  const now = start.clock.now();
  return pageAnswer(page, (run) => ({
    ...runSummary(run, vocabulary),
    ...listedBlocked(registry, run, now),
  }));
}

/**
 * `GET /v1/runs/{id}`: never stale, the tail of the journal is folded over the snapshot (J7). An input or result that lies
 * in a payload is named, not shown: both together may be larger than an answer can be. What names a run that gets nowhere is one
 * read more of a run that has not ended.
 */
export async function readRun(
  { start, diagnosis, registry }: ApiDeps,
  caller: Caller,
  at: RunAddress,
): Promise<Response> {
  const vocabulary = vocabularyOf(readQuery(at.url, ['vocabulary']));
  const run = await ownRun(start.store, caller, at.runId);
  const { state } = run;
  const [input, result, named] = await Promise.all([
    located(start.store, state.id, state.input),
    state.result && located(start.store, state.id, state.result),
    isOver(state) ? undefined : diagnosis.findings.find(state.id),
  ]);
  const finding = named && stillStands(named, state) ? findingView(named) : undefined;
  const deployed = deployedFor(registry, state);
  const blocked = blockedOn(state, deployed, run.readAt);
  return Response.json({
    ...runView(run, { input, result }, vocabulary),
    ...optional('leaseWait', leaseWaitView(run, leaseWaitOf(state, deployed))),
    ...optional('finding', finding),
    ...optional('blocked', blocked && blockedView(blocked, state)),
  });
}

export interface RunAddress {
  readonly runId: string;
  readonly url: string;
}

type ListUnderRun = (deps: ApiDeps, caller: Caller, at: RunAddress) => Promise<Response>;

/** `GET /v1/runs/{id}/events`, oldest first. */
export const listEvents: ListUnderRun = (deps, caller, at) =>
  listUnder(deps, caller, {
    ...at,
    read: (page) => deps.start.store.listEvents(at.runId, page),
    view: eventView,
  });

/** `GET /v1/runs/{id}/steps`, by the step's id; with those under way, which have left no document yet. */
export const listSteps: ListUnderRun = (deps, caller, at) =>
  listUnder(deps, caller, {
    ...at,
    read: async (page, run) => withRunning(await deps.start.store.listSteps(at.runId, page), page, run),
    view: stepView,
  });

/** `GET /v1/runs/{id}/checkpoints`, oldest first. An output that lies in a payload is named: see read-output.ts. */
export const listCheckpoints: ListUnderRun = (deps, caller, at) =>
  listUnder(deps, caller, {
    ...at,
    read: (page) => deps.start.store.listCheckpoints(at.runId, page),
    view: checkpointView,
  });

interface Listing<T> extends RunAddress {
  readonly read: (page: PageRequest, run: LoadedRun) => Promise<Page<T>>;
  readonly view: (item: T, run: RunState) => View;
}

async function listUnder<T>({ start }: ApiDeps, caller: Caller, listing: Listing<T>): Promise<Response> {
  const page = pageRequest(readQuery(listing.url, ['limit', 'cursor']));
  const run = await ownRun(start.store, caller, listing.runId);
  return pageAnswer(await listing.read(page, run), (item) => listing.view(item, run.state));
}

/** A run of another tenant is answered exactly as one that does not exist. */
export async function ownRun(store: RunStore, { tenantId }: Caller, runId: string): Promise<LoadedRun> {
  const loaded = isRunId(runId) ? await store.load(runId, tenantId) : undefined;
  if (loaded?.state.tenantId === tenantId) return loaded;
  throw runNotFound();
}

/** Which runs of the caller's tenant are asked for. @throws CairnError INVALID_INPUT */
export function runFilter(
  { tenantId }: Caller,
  query: Query<(typeof RUN_FILTERS)[number]>,
): { readonly filter: RunFilter; readonly vocabulary: Vocabulary } {
  const { status, waitsFor, type, repoId, threadId, since, until } = query;
  const vocabulary = vocabularyOf(query);
  const named = {
    ...(waitsFor === undefined ? {} : { waitsFor: waitingWord(waitsFor) }),
    ...(type === undefined ? {} : { type }),
    ...(repoId === undefined ? {} : { repoId }),
    ...(threadId === undefined ? {} : { threadId }),
    ...optional('createdFrom', since === undefined ? undefined : timeOf('since', since)),
    ...optional('createdBefore', until === undefined ? undefined : timeOf('until', until)),
  };
  return { filter: { tenantId, ...named, ...statusFilter(status, vocabulary) }, vocabulary };
}

/** @throws CairnError INVALID_INPUT */
function waitingWord(word: string): WaitsFor {
  const status = canonicalStatus(word);
  const waiting = WAITS_FOR.find((one) => one === status);
  if (waiting) return waiting;
  throw new CairnError('INVALID_INPUT', `waitsFor: nothing waits for "${word}"`, {
    field: 'waitsFor',
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
    throw new CairnError('INVALID_INPUT', `status: "${word}" cannot be asked for in one list`, {
      field: 'status',
      help: 'Ask for runs that were halted, or cancelled otherwise, by themselves.',
    });
  const statuses = [...new Set(called.flatMap((one) => one.statuses))];
  const [only, ...others] = statuses;
  return {
    ...(only !== undefined && { status: others.length === 0 ? only : statuses }),
    ...(stopKinds && { stopKind: stopKinds }),
  };
}

/** `next`, if there is more, is the `cursor` of the following page. */
function pageAnswer<T>({ items, ...page }: Page<T>, view: (item: T) => View): Response {
  return Response.json({ items: items.map(view), ...page });
}
