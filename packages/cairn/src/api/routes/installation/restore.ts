/**
 * `GET /v1/restore`, `POST /v1/restore/begin` and `/release`: whether the installation is paused because its database was restored.
 * The pause concerns the runs of every tenant, so it requires the role `installation`.
 */
import type { RestoreMark } from '../../../core/recovery/restored.ts';
import { isoIf } from '../../../core/run/readable.ts';
import { beginRestore, readRestore, releaseRestore } from '../../../operations/runtime/restore.ts';
import type { ApiDeps } from '../../deps.ts';
import type { ChangeHandler, ReadHandler } from '../../route.ts';
import { actingOf } from './runtime.ts';

export const read: ReadHandler<'GET /v1/restore'> = async ({ deps }) => {
  const { isPaused, restore } = await readRestore(deps);
  return restoreView(deps, isPaused, restore);
};

export const begin: ChangeHandler<'POST /v1/restore/begin'> = {
  async work({ deps, caller }) {
    const mark = await beginRestore(deps, actingOf(caller));
    return { status: 200, body: restoreView(deps, mark.isPaused, mark) };
  },
};

/** `woken`: enqueued runs of the caller's tenant. */
export const release: ChangeHandler<'POST /v1/restore/release'> = {
  async work({ deps, caller }) {
    const { restore, woken } = await releaseRestore(deps, actingOf(caller));
    return { status: 200, body: { ...restoreView(deps, restore?.isPaused ?? false, restore), woken } };
  },
};

function restoreView({ home }: ApiDeps, isPaused: boolean, mark: RestoreMark | undefined) {
  return { home, held: isPaused, restoredAt: isoIf(mark?.at), by: mark?.by };
}
