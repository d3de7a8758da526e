/**
 * Operations on a restored database, for operators and the scan: pause the installation, and release it. While it is
 * paused, nothing is dispatched or deleted, but starts, answers and events are accepted.
 */
import { isCopy, type RestoreMark } from '../../core/recovery/restored.ts';
import type { SendDeps } from '../../journal/send-until-known.ts';
import type { Log } from '../../ports/log.ts';
import { changeConfig, type RuntimeDeps, readConfig } from './change-config.ts';
import { wakePaused } from './wake-paused.ts';

export interface HomeDeps extends SendDeps, Pick<RuntimeDeps, 'config'> {
  /** Project and database in use. */
  readonly home: string;
  readonly log: Log;
}

type RestoreDeps = HomeDeps & RuntimeDeps;

interface Restoring {
  readonly actor: string;
  /** Tenant of the caller; the pause applies to all tenants. */
  readonly tenantId: string;
}

/**
 * Runs before each scan. Records where the database is used, and pauses the installation if the database was used elsewhere, because
 * it is then a copy. Returns true if the installation is paused.
 *
 * @throws CairnError UNAVAILABLE, and read errors of the store
 */
export async function noticeRestore(deps: HomeDeps): Promise<boolean> {
  const { home, clock, log } = deps;
  const known = await readConfig(deps);
  if (known.home === home) return known.restore?.isPaused ?? false;
  let from: string | undefined;
  const { restore } = await changeConfig(deps, (current) => {
    if (current.home === home) return undefined;
    from = current.home;
    const mark = { at: clock.now(), by: 'system', isPaused: true };
    return { ...current, home, ...(isCopy(current.home, home) ? { restore: mark } : {}) };
  });
  if (from !== undefined) log.error('installation_restored', { from, home });
  return restore?.isPaused ?? false;
}

/**
 * The restore mark in effect: an existing pause is kept.
 *
 * @throws CairnError UNAVAILABLE (send the same again)
 */
export async function beginRestore(deps: HomeDeps, { actor }: Restoring): Promise<RestoreMark> {
  const { home, clock, log } = deps;
  const mark: RestoreMark = { at: clock.now(), by: actor, isPaused: true };
  const { restore = mark } = await changeConfig(deps, (current) =>
    current.restore?.isPaused && current.home === home ? undefined : { ...current, home, restore: mark },
  );
  log.warn('restore_begun', { by: restore.by, restoredAt: restore.at });
  return restore;
}

/**
 * Returns the number of enqueued runs of the caller's tenant. A repetition enqueues runs that are still paused. A copy without a mark
 * gets one. `restore` is undefined if there was none, and nothing is changed.
 *
 * @throws CairnError UNAVAILABLE (send the same again)
 */
export async function releaseRestore(
  deps: RestoreDeps,
  { actor, tenantId }: Restoring,
): Promise<{ readonly restore: RestoreMark | undefined; readonly woken: number }> {
  const { home, clock, log } = deps;
  const after = await changeConfig(deps, (current) => {
    if (isCopy(current.home, home))
      return { ...current, home, restore: { at: clock.now(), by: actor, isPaused: false } };
    return current.restore?.isPaused
      ? { ...current, restore: { ...current.restore, isPaused: false } }
      : undefined;
  });
  const { restore } = after;
  if (restore) log.warn('restore_released', { by: actor, restoredAt: restore.at });
  return { restore, woken: restore ? await wakePaused(deps, after, { tenantId }) : 0 };
}

/**
 * State of a restore. `isPaused` without `restore`: a copy that no scan has noticed yet.
 *
 * @throws CairnError UNAVAILABLE
 */
export async function readRestore(
  deps: Omit<HomeDeps, 'log'>,
): Promise<{ readonly isPaused: boolean; readonly restore: RestoreMark | undefined }> {
  const { home, restore } = await readConfig(deps);
  if (isCopy(home, deps.home)) return { isPaused: true, restore: undefined };
  return { isPaused: restore?.isPaused ?? false, restore };
}
