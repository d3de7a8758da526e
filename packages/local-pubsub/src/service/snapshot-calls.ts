/** The calls of `google.pubsub.v1` about snapshots, each an operation of the broker. Owns requests. */
import {
  projectOf,
  requireProject,
  requireSnapshot,
  requireSubscription,
  requireTopic,
} from '../model/names.ts';
import type { SnapshotConfig } from '../model/resources.ts';
import { invalid, unimplemented } from '../model/status.ts';
import { masked } from '../wire/decode.ts';
import { labelsFrom } from '../wire/decode-labels.ts';
import { timeFrom } from '../wire/decode-time.ts';
import { toWireSnapshot } from '../wire/encode.ts';
import type { WireSnapshot } from '../wire/messages.ts';
import type { Broker } from './broker.ts';
import { byName, pageOf, type ResourcePageRequest, within } from './page.ts';

interface SnapshotRequest {
  readonly snapshot: string;
}

/** Handlers of the subscriber service, by method name. @param freshId id of an unnamed snapshot */
export function snapshotCalls(broker: Broker, freshId: () => string) {
  const { snapshots } = broker;
  return {
    CreateSnapshot(request: {
      name?: string;
      subscription: string;
      labels?: Record<string, string> | null;
      tags?: Record<string, string> | null;
    }) {
      const subscription = requireSubscription(request.subscription);
      if (Object.keys(request.tags ?? {}).length > 0) throw unimplemented('CreateSnapshotRequest.tags');
      const name = request.name || `projects/${projectOf(subscription)}/snapshots/${freshId()}`;
      requireSnapshot(name);
      const { config } = broker.attached(subscription);
      return toWireSnapshot(snapshots.create({ name, labels: labelsFrom(request.labels) }, config));
    },

    GetSnapshot: ({ snapshot }: SnapshotRequest) => toWireSnapshot(snapshots.get(requireSnapshot(snapshot))),

    ListSnapshots(request: ResourcePageRequest & { project: string }) {
      const all = within(requireProject(request.project), snapshots.all());
      const { page, nextPageToken } = pageOf(all, request);
      return { snapshots: page.map(toWireSnapshot), nextPageToken };
    },

    UpdateSnapshot({
      snapshot,
      updateMask,
    }: {
      snapshot?: WireSnapshot | null;
      updateMask?: { paths?: string[] } | null;
    }) {
      const before = snapshots.get(requireSnapshot(snapshot?.name ?? ''));
      return toWireSnapshot(snapshots.update(updated(before, snapshot ?? {}, updateMask?.paths)));
    },

    DeleteSnapshot({ snapshot }: SnapshotRequest) {
      snapshots.delete(requireSnapshot(snapshot));
      return {};
    },
  };
}

/** The handler of the publisher service. */
export function topicSnapshotCalls(broker: Broker) {
  return {
    ListTopicSnapshots(request: ResourcePageRequest & { topic: string }) {
      const topic = broker.topics.get(requireTopic(request.topic)).name;
      const names = broker.snapshots.of(topic).map(({ name }) => ({ name }));
      const { page, nextPageToken } = pageOf(byName(names), request);
      return { snapshots: page.map(({ name }) => name), nextPageToken };
    },
  };
}

function updated(
  before: SnapshotConfig,
  wire: WireSnapshot,
  paths: readonly string[] | undefined,
): SnapshotConfig {
  let snapshot = before;
  for (const path of masked(paths)) {
    if (path === 'labels') snapshot = { ...snapshot, labels: labelsFrom(wire.labels) };
    else if (path === 'expire_time' && wire.expireTime) {
      snapshot = { ...snapshot, expiresAt: timeFrom('Snapshot.expire_time', wire.expireTime) };
    } else throw invalid(`Invalid update_mask provided: '${path}' of a snapshot cannot be updated.`);
  }
  return snapshot;
}
