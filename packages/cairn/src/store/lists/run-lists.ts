/**
 * Lists and scans over runs and their documents. Each query here has its index in `firestore.indexes.json`; each is
 * bounded by its caller's limit.
 */
import {
  type DocumentData,
  FieldPath,
  Filter,
  type Query,
  type QueryDocumentSnapshot,
  Timestamp,
} from '@google-cloud/firestore';
import type { HeartbeatWindow } from '../../core/recovery/lease-watch.ts';
import type { DueFacts } from '../../core/recovery/scan-order.ts';
import type { RunEvent } from '../../core/run/events.ts';
import { WAITS_FOR, type WaitsFor } from '../../core/run/now/waits-for.ts';
import type { Checkpoint, StepRecord } from '../../core/run/records.ts';
import { DRIVEN_STATUSES, RUN_STATUSES, type RunStatus } from '../../core/run/status.ts';
import { readySince } from '../../core/run/wake.ts';
import type { ListName, Position } from '../../core/search/cursor.ts';
import { isMatch } from '../../core/search/match.ts';
import { hasTag } from '../../core/search/tags.ts';
import type {
  DuePlace,
  DueRun,
  ListedRun,
  Page,
  PageRequest,
  RunFilter,
  SilentRun,
} from '../../ports/run-store.ts';
import { isOfDocument } from '../../ports/store-errors.ts';
import { call } from '../call.ts';
import { checkpointCodec, eventCodec, stepCodec } from '../codec/journal.ts';
import type { DocumentCodec } from '../codec/kinds.ts';
import { decodeListed, isMarkedToGo, LISTED_NAMES } from '../codec/snapshot.ts';
import type { Paths } from '../paths.ts';
import { versionOf } from '../version.ts';
import { findDue } from './due-while-index-builds.ts';
import { readPage } from './pages.ts';
import { inShards, Shards, shardedPage } from './shards.ts';
import { withWaits } from './waits.ts';

/** The members by which the scan orders runs. */
const DUE_NAMES = ['wakeAt', 'type', 'status', 'parked', 'updatedAt', 'dueAt', 'lease.epoch'];
const SILENT_NAMES = ['lastHeartbeatAt', 'lease.epoch', 'type', 'tenantId'];

export class RunLists {
  protected readonly paths: Paths;
  protected readonly shards: Shards;

  constructor(paths: Paths, shards = new Shards(paths)) {
    this.paths = paths;
    this.shards = shards;
  }

  async dueRuns(now: number, limit: number, after?: DuePlace): Promise<readonly DueRun[]> {
    const found = await findDue({
      what: 'scan of due runs',
      indexed: () => this.dueByIndex(now, limit, after),
      collection: this.paths.runs(),
      member: 'wakeAt',
      names: DUE_NAMES,
      now,
      limit,
      after: after && { at: after.wakeAt, id: after.runId },
    });
    return found.map(dueRunOf);
  }

  /** @throws FAILED_PRECONDITION while the index does not exist */
  async dueByIndex(now: number, limit: number, after?: DuePlace): Promise<readonly QueryDocumentSnapshot[]> {
    return shardedPage({
      what: 'scan of due runs',
      // Each tick reads the shards, because another instance may have written runs with more of them.
      shards: await (after ? this.shards.live() : this.shards.read()),
      documents: this.paths.runs().where('wakeAt', '<=', Timestamp.fromMillis(now)),
      by: 'wakeAt',
      members: DUE_NAMES,
      limit,
      after: after && { at: after.wakeAt, id: after.runId },
    });
  }

  /**
   * Makes a query for each status, because one takes 30 combinations of shard and status.
   *
   * @throws FAILED_PRECONDITION while the index does not exist
   */
  async silentRuns({ after, until }: HeartbeatWindow, limit: number): Promise<readonly SilentRun[]> {
    const shards = await this.shards.live();
    const found = await Promise.all(
      DRIVEN_STATUSES.map((status) =>
        inShards(shards, async (some) => {
          const silent = this.paths
            .runs()
            .where('shard', 'in', some)
            .where('status', '==', status)
            .where('lastHeartbeatAt', '>', Timestamp.fromMillis(after))
            .where('lastHeartbeatAt', '<=', Timestamp.fromMillis(until))
            .orderBy('lastHeartbeatAt')
            .limit(limit)
            .select(...SILENT_NAMES);
          const { docs } = await call('scan of silent runs', () => silent.get());
          return docs.map(silentRunOf);
        }),
      ),
    );
    return found
      .flat()
      .sort((a, b) => a.lastHeartbeatAt - b.lastHeartbeatAt)
      .slice(0, limit);
  }

  async listRuns(filter: RunFilter, page: PageRequest): Promise<Page<ListedRun>> {
    const {
      items,
      unreadable = [],
      ...read
    } = await readPage(page, {
      list: 'runs',
      ordered: listedRuns(this.paths, filter),
      startAfter: ([at, id]) => [Timestamp.fromMillis(at), id],
      decode: (document, id) => decodeListed(document, `run ${id}`),
      positionOf: ({ state }, id) => [state.createdAt, id],
      isHidden: isMarkedToGo,
      isPassedOver: (document, id) => isPassedOver(document, id, filter),
      positionOfDamaged: ({ createdAt }, id) => positionAt(createdAt, id),
    });
    const { runs, damaged } = await withWaits(this.paths, items);
    const ids = [...unreadable, ...damaged];
    return { ...read, items: runs, ...(ids.length > 0 ? { unreadable: ids } : {}) };
  }

  listEvents(runId: string, page: PageRequest): Promise<Page<RunEvent>> {
    const events = this.paths.events(this.paths.run(runId));
    return byId(events, page, { list: 'events', one: 'event', runId, codec: eventCodec });
  }

  listSteps(runId: string, page: PageRequest): Promise<Page<StepRecord>> {
    const steps = this.paths.steps(this.paths.run(runId));
    return byId(steps, page, { list: 'steps', one: 'step', runId, codec: stepCodec });
  }

  listCheckpoints(runId: string, page: PageRequest): Promise<Page<Checkpoint>> {
    const checkpoints = this.paths.checkpoints(this.paths.run(runId));
    return byId(checkpoints, page, { list: 'checkpoints', one: 'checkpoint', runId, codec: checkpointCodec });
  }
}

interface DocumentsOfRun<T> {
  readonly list: ListName;
  /** Name of one document in errors. */
  readonly one: string;
  readonly runId: string;
  readonly codec: DocumentCodec<T>;
}

function byId<T>(documents: Query, page: PageRequest, { list, one, runId, codec }: DocumentsOfRun<T>) {
  return readPage<T>(page, {
    list,
    ordered: documents.orderBy(FieldPath.documentId()),
    startAfter: ([, id]) => [id],
    decode: (document, id) => codec.decode(document, `${one} ${id} of run ${runId}`),
    positionOf: (_item, id) => [0, id],
  });
}

/** Position by the member that orders the list, as found. */
export function positionAt(at: unknown, id: string): Position | undefined {
  return at instanceof Timestamp ? [at.toMillis(), id] : undefined;
}

/** The matching runs, newest first. */
export function matchingRunsQuery(paths: Paths, filter: RunFilter): Query {
  let runs: Query = paths.runs();
  const { status, tag, among, createdFrom, createdBefore, topLevel: _, match: __, ...named } = filter;
  for (const [name, value] of Object.entries(named)) {
    if (Array.isArray(value)) runs = runs.where(name, 'in', value);
    else if (value !== undefined) runs = runs.where(name, '==', value);
  }
  if (tag !== undefined) runs = runs.where('foundBy', 'array-contains', tag);
  if (among !== undefined) runs = runs.where('foundBy', 'array-contains-any', among);
  if (status !== undefined) runs = runs.where(ofStatus([status].flat()));
  if (createdFrom !== undefined) runs = runs.where('createdAt', '>=', Timestamp.fromMillis(createdFrom));
  if (createdBefore !== undefined) runs = runs.where('createdAt', '<', Timestamp.fromMillis(createdBefore));
  return runs.orderBy('createdAt', 'desc').orderBy(FieldPath.documentId(), 'desc');
}

/** An undecodable document is not skipped, because the list reports it. */
function isPassedOver(document: DocumentData, id: string, { topLevel, match, tag }: RunFilter): boolean {
  if (topLevel && document.parent !== undefined) return true;
  if (isMarkedToGo(document)) return false;
  if (!hasTag(document.tags, tag)) return true;
  if (!match) return false;
  try {
    return !isMatch(decodeListed(document, `run ${id}`).state, match);
  } catch (error) {
    if (isOfDocument(error)) return false;
    throw error;
  }
}

/** Matches runs that have the status, or would have it by their open waits alone. */
function ofStatus(statuses: readonly RunStatus[]): Filter {
  const waiting = statuses.filter((status): status is WaitsFor => WAITS_FOR.some((word) => word === status));
  const has = isOneOf('status', statuses);
  return waiting.length > 0 ? Filter.or(has, isOneOf('waitsFor', waiting)) : has;
}

function isOneOf(name: string, values: readonly string[]): Filter {
  const [only, ...others] = values;
  return others.length > 0 ? Filter.where(name, 'in', values) : Filter.where(name, '==', only);
}

/** Selects the members that a list shows. A projection needs no other index. */
function listedRuns(paths: Paths, filter: RunFilter): Query {
  return matchingRunsQuery(paths, filter).select(...LISTED_NAMES);
}

function dueRunOf(found: QueryDocumentSnapshot): DueRun {
  return {
    runId: found.id,
    wakeAt: (found.get('wakeAt') as Timestamp).toMillis(),
    snapshotVersion: versionOf(found.updateTime),
    ...dueFactsOf(found),
  };
}

function silentRunOf(found: QueryDocumentSnapshot): SilentRun {
  return {
    runId: found.id,
    lastHeartbeatAt: (found.get('lastHeartbeatAt') as Timestamp).toMillis(),
    isLeased: found.get('lease.epoch') !== undefined,
    type: textIn(found, 'type'),
    tenantId: textIn(found, 'tenantId'),
  };
}

function textIn(found: QueryDocumentSnapshot, name: string): string | undefined {
  const value: unknown = found.get(name);
  return typeof value === 'string' ? value : undefined;
}

function timeIn(found: QueryDocumentSnapshot, name: string): number | undefined {
  const value: unknown = found.get(name);
  return value instanceof Timestamp ? value.toMillis() : undefined;
}

/** Omits an invalid member: the run is handled like any other, and its damage is reported then. */
function dueFactsOf(found: QueryDocumentSnapshot): DueFacts {
  const status = RUN_STATUSES.find((one) => one === found.get('status'));
  return {
    type: textIn(found, 'type'),
    status,
    isBlocked: found.get('parked') !== undefined,
    readySince: readySince({
      status,
      lease: found.get('lease.epoch'),
      dueAt: timeIn(found, 'dueAt'),
      updatedAt: timeIn(found, 'updatedAt'),
    }),
  };
}
