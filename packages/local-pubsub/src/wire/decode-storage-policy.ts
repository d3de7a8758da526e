/** Validates the storage policy of a topic by the rules that Pub/Sub documents. Pure. */
import type { StoragePolicy } from '../model/resources.ts';
import { invalid } from '../model/status.ts';
import type { WireStoragePolicy } from './messages.ts';

/** For example `us-east1`. The existence of the region is not checked. */
const REGION = /^[a-z]+-[a-z]+\d{1,2}$/;

/** Without a policy the organization's regions apply, of which there are none here. @throws PubsubError INVALID_ARGUMENT */
export function storagePolicyFrom(wire: WireStoragePolicy | null | undefined): StoragePolicy | undefined {
  if (!wire) return undefined;
  const regions = wire.allowedPersistenceRegions ?? [];
  if (regions.length === 0) {
    throw invalid('message_storage_policy.allowed_persistence_regions must name at least one region.');
  }
  const strange = regions.find((region) => !REGION.test(region));
  if (strange !== undefined) {
    throw invalid(
      `message_storage_policy.allowed_persistence_regions: '${strange.slice(0, 100)}' is no region of Google Cloud.`,
    );
  }
  return { regions, inTransit: wire.enforceInTransit ?? false };
}
