/** The processes of the test kit, re-exported for the engine's own tests. */
import type { EngineDeps } from '../../packages/cairn/src/engine/deps.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import type { DriveRequest } from '../../packages/cairn/src/engine/tracing/drive-account.ts';
import { mortal } from '../../packages/cairn/src/testing/world/mortal.ts';
import { settle } from './virtual-clock.ts';

export { type Mortal, mortal } from '../../packages/cairn/src/testing/world/mortal.ts';

/** Dispatches a run in a separate simulated process, which is killed once it is idle. */
export async function dieDuring(deps: EngineDeps, request: DriveRequest): Promise<void> {
  const victim = mortal(deps, 50);
  void drive(victim.deps, request);
  await settle();
  victim.kill();
}
