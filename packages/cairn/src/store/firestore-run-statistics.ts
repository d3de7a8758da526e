/** Counts of runs in Firestore. Each query has its index in `firestore.indexes.json`. */
import { type Query, Timestamp } from '@google-cloud/firestore';
import { mapConcurrently } from '../core/map-concurrently.ts';
import { isTerminal, RUN_STATUSES } from '../core/run/status.ts';
import type { ActiveRuns, DueEntry, DueQuery, LiveVersion, RunStatistics } from '../ports/run-statistics.ts';
import { call } from './call.ts';
import { ShardedStore } from './firestore-store.ts';
import { shardedPage } from './lists/shards.ts';

const LIVE = RUN_STATUSES.filter((status) => !isTerminal(status));
const CONCURRENT_COUNTS = 8;

type CountedVersion = Omit<LiveVersion, 'runs'>;

export class FirestoreRunStatistics extends ShardedStore implements RunStatistics {
  /** One read and one count for each version: each read begins after the runs of the previous version. */
  async liveVersions(tenantId: string, limit: number): Promise<readonly LiveVersion[]> {
    const live = this.paths.runs().where('tenantId', '==', tenantId).where('status', 'in', LIVE);
    const versions: CountedVersion[] = [];
    for (let last = await firstOf(live); last; last = await firstOf(live, last)) {
      versions.push(last);
      if (versions.length === limit) break;
    }
    const counted = await mapConcurrently(versions, CONCURRENT_COUNTS, (version) => withCount(live, version));
    // The last run of a version may have ended after its version was found.
    return counted.filter(({ runs }) => runs > 0);
  }

  /** The order is needed only so that the index of the list by status serves the query. */
  activeRuns(tenantId: string): Promise<readonly ActiveRuns[]> {
    const runs = this.paths.runs().where('tenantId', '==', tenantId);
    const counts = LIVE.map(async (status) => {
      const ofStatus = runs.where('status', '==', status).orderBy('createdAt', 'desc');
      const counted = await call('count of active runs', () => ofStatus.count().get());
      return { status, runs: counted.data().count };
    });
    return Promise.all(counts);
  }

  /** Makes one read for each tenant: the first run after all runs of the previous tenant. */
  async tenants(limit: number): Promise<readonly string[]> {
    const ordered = this.paths
      .runs()
      .orderBy('tenantId')
      .orderBy('createdAt', 'desc')
      .limit(1)
      .select('tenantId');
    const tenants: string[] = [];
    while (tenants.length < limit) {
      const last = tenants.at(-1);
      const next = last === undefined ? ordered : ordered.startAfter(last);
      const { docs } = await call('look for tenants with runs', () => next.get());
      const [found] = docs;
      if (!found) break;
      tenants.push(found.get('tenantId') as string);
    }
    return tenants;
  }

  async due({ until, type, after, limit }: DueQuery): Promise<readonly DueEntry[]> {
    const runs = this.paths.runs().where('wakeAt', '<=', Timestamp.fromMillis(until));
    const docs = await shardedPage({
      what: 'look for runs that are due soon',
      shards: await this.shards.live(),
      documents: type === undefined ? runs : runs.where('type', '==', type),
      by: 'wakeAt',
      members: ['tenantId', 'type', 'wakeAt'],
      limit,
      after: after && { at: after.wakeAt, id: after.runId },
    });
    return docs.map((found) => ({
      runId: found.id,
      tenantId: found.get('tenantId') as string,
      type: found.get('type') as string,
      wakeAt: (found.get('wakeAt') as Timestamp).toMillis(),
    }));
  }
}

/** The first version in use, or the first one after `after`. */
async function firstOf(live: Query, after?: CountedVersion): Promise<CountedVersion | undefined> {
  const ordered = live.orderBy('type').orderBy('planVersion').limit(1).select('type', 'planVersion');
  const next = after ? ordered.startAfter(after.type, after.planVersion) : ordered;
  const { docs } = await call('look for versions with live runs', () => next.get());
  const [found] = docs;
  return found && { type: found.get('type') as string, planVersion: found.get('planVersion') as number };
}

async function withCount(live: Query, { type, planVersion }: CountedVersion): Promise<LiveVersion> {
  const ofVersion = live.where('type', '==', type).where('planVersion', '==', planVersion);
  const counted = await call('count of live runs', () => ofVersion.count().get());
  return { type, planVersion, runs: counted.data().count };
}
