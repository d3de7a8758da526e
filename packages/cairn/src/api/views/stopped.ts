/** Shows in a run what operators stopped, so that it is not dispatched. */
import { declaredType } from '../../core/flow/parts.ts';
import type { RunState } from '../../core/run/state.ts';
import { pausedBy } from '../../engine/admission.ts';
import type { RuntimeConfig } from '../../ports/runtime-config.ts';
import { type Caller, mayActAs } from '../auth.ts';
import type { View } from './run.ts';
import { listedPause } from './workflow.ts';

export function stoppedView(
  config: RuntimeConfig,
  run: Pick<RunState, 'type' | 'status'>,
  { role }: Pick<Caller, 'role'>,
): View | undefined {
  const by = pausedBy(config, run);
  if (by !== 'paused') return by && { by };
  const type = declaredType(run.type);
  const mark = config.paused.get(type);
  return mark && { by, type, ...listedPause(mark, mayActAs(role, 'installation')) };
}
