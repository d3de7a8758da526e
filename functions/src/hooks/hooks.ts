/** HTTP hooks as targets of the shipped workflows (docs/workflows.md). */

import { Fatal } from 'cairn';
import type { DeployTarget, ServiceHealth } from '../workflows/deploy/target.ts';
import type { Outside } from '../workflows/index.ts';
import type { Janitor } from '../workflows/nightly-cleanup/janitor.ts';
import { CleanupListing } from '../workflows/nightly-cleanup/request.ts';
import { Hook } from './hook.ts';

interface HookUrls {
  /** Undefined: the workflow is not installed. */
  readonly deploy: string | undefined;
  readonly cleanup: string | undefined;
}

export function outsideOf({ deploy, cleanup }: HookUrls): Outside {
  return {
    ...(deploy === undefined ? {} : { deployTarget: deployTargetAt(new Hook('the deploy hook', deploy)) }),
    ...(cleanup === undefined ? {} : { janitor: janitorAt(new Hook('the cleanup hook', cleanup)) }),
  };
}

function deployTargetAt(hook: Hook): DeployTarget {
  return {
    async lock(place, call) {
      await hook.call({ action: 'lock', ...place }, call);
    },
    async unlock(place, call) {
      await hook.call({ action: 'unlock', ...place }, call);
    },
    async release(release, call) {
      await hook.call({ action: 'release', ...release }, call);
    },
    async rollBack(release, call) {
      await hook.call({ action: 'roll_back', ...release }, call);
    },
    async health(release, call): Promise<ServiceHealth> {
      const { healthy, detail } = await hook.call({ action: 'health', ...release }, call);
      const isHealthy = expectBoolean('the deploy hook', 'healthy', healthy);
      return { healthy: isHealthy, ...(typeof detail === 'string' ? { detail } : {}) };
    },
  };
}

function janitorAt(hook: Hook): Janitor {
  return {
    async list(call) {
      const listed = CleanupListing.safeParse((await hook.call({ action: 'list' }, call)).items);
      if (listed.success) return listed.data;
      throw new Fatal("the response of the cleanup hook has no valid 'items'");
    },
    async remove({ id, kind }, call) {
      await hook.call({ action: 'remove', id, kind }, call);
    },
    async exists({ id, kind }, call) {
      const { exists } = await hook.call({ action: 'exists', id, kind }, call);
      return expectBoolean('the cleanup hook', 'exists', exists);
    },
  };
}

function expectBoolean(who: string, member: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw new Fatal(`the response of ${who} must have '${member}' as true or false`);
}
