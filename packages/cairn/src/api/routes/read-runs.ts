/** Reading runs: one, a list, and the lists under one. Only ever the caller's tenant. */

import { isRunId } from '../../core/encoding/ids.ts';
import type { RunState } from '../../core/run/state.ts';
import { runsCalled, type Vocabulary } from '../../core/run/vocabulary.ts';
import { located } from '../../engine/stored-text.ts';
import { runNotFound } from '../../operations/outside-append.ts';
import type { LoadedRun, Page, PageRequest, RunFilter, RunStore } from '../../ports/run-store.ts';
import type { Caller } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';
import { pageRequest, type Query, readQuery, vocabularyOf } from '../query.ts';
import { checkpointView, eventView, stepView } from '../views/documents.ts';
import { runSummary, runView, type View } from '../views/run.ts';

/** Parameters that say which runs a list is of, and in whose words. */
export const RUN_FILTERS = ['status', 'type', 'repoId', 'threadId', 'vocabulary'] as const;

/** `GET /v1/runs`, newest first. Lists read snapshots, which may lag behind a run under way by about a second. */
export async function listRuns({ start }: ApiDeps, caller: Caller, url: string): Promise<Response> {
  const query = readQuery(url, [...RUN_FILTERS, 'limit', 'cursor']);
  const { filter, vocabulary } = runFilter(caller, query);
  const page = await start.store.listRuns(filter, pageRequest(query));
  return pageAnswer(page, (run) => runSummary(run, vocabulary));
}

/**
 * `GET /v1/runs/{id}`: never stale, the tail of the journal is folded over the snapshot (J7). An input or result that lies
 * in a payload is named, not shown: both together may be larger than an answer can be.
 */
export async function readRun({ start }: ApiDeps, caller: Caller, at: RunAddress): Promise<Response> {
  const vocabulary = vocabularyOf(readQuery(at.url, ['vocabulary']));
  const run = await ownRun(start.store, caller, at.runId);
  const { state } = run;
  const [input, result] = await Promise.all([
    located(start.store, state.id, state.input),
    state.result && located(start.store, state.id, state.result),
  ]);
  return Response.json(runView(run, { input, result }, vocabulary));
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

/** `GET /v1/runs/{id}/steps`, by the step's id. */
export const listSteps: ListUnderRun = (deps, caller, at) =>
  listUnder(deps, caller, {
    ...at,
    read: (page) => deps.start.store.listSteps(at.runId, page),
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
  readonly read: (page: PageRequest) => Promise<Page<T>>;
  readonly view: (item: T, run: RunState) => View;
}

async function listUnder<T>({ start }: ApiDeps, caller: Caller, listing: Listing<T>): Promise<Response> {
  const page = pageRequest(readQuery(listing.url, ['limit', 'cursor']));
  const { state } = await ownRun(start.store, caller, listing.runId);
  return pageAnswer(await listing.read(page), (item) => listing.view(item, state));
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
  const { status, type, repoId, threadId } = query;
  const vocabulary = vocabularyOf(query);
  const named = {
    ...(type === undefined ? {} : { type }),
    ...(repoId === undefined ? {} : { repoId }),
    ...(threadId === undefined ? {} : { threadId }),
  };
  return { filter: { tenantId, ...named, ...statusFilter(status, vocabulary) }, vocabulary };
}

function statusFilter(
  word: string | undefined,
  vocabulary: Vocabulary,
): Pick<RunFilter, 'status' | 'stopKind'> {
  if (word === undefined) return {};
  const { statuses, stopKinds } = runsCalled(word, vocabulary);
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
