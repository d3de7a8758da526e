/** Starts a run of a schedule by request, without a slot and without advancing the schedule. */
import { requestHash } from '../../core/encoding/fingerprint.ts';
import { triggeredRunId } from '../../core/schedule/schedule.ts';
import { inputForSlot } from '../../engine/define/slot-input.ts';
import { runExists } from '../../engine/run-exists.ts';
import type { StartRequest } from '../start/request.ts';
import { startRun } from '../start/start-run.ts';
import { ownSchedule } from './change-schedule.ts';
import type { ScheduleDeps, ScheduleRef } from './deps.ts';
import { deployed } from './start-slot.ts';

interface TriggerSchedule extends ScheduleRef {
  readonly actor: string;
  /** Identifies the request: a repetition returns the same run. */
  readonly requestId: string;
  readonly context: Pick<StartRequest, 'trace' | 'a2aCorrelationId'>;
}

/**
 * The id of the run. A paused schedule can be triggered too. `slot` in its input is the time of the request.
 *
 * @throws CairnError NOT_FOUND, INVALID_INPUT, UNAVAILABLE (send the same again)
 */
export async function triggerSchedule(deps: ScheduleDeps, request: TriggerSchedule): Promise<string> {
  const { id, actor, requestId, context } = request;
  const runId = triggeredRunId(id, requestId);
  // The schedule or the workflow may have been removed since, or the workflow refuses the input.
  if (await runExists(deps, runId)) return runId;
  const { schedule } = await ownSchedule(deps, request);
  const { tenantId, type, input } = schedule;
  const workflow = deployed(deps, type);
  // A start that finds the existing run has the same outcome.
  await startRun(deps, {
    runId,
    tenantId,
    environment: deps.environment,
    workflow,
    input: inputForSlot(workflow.input, input, deps.clock.now()),
    trigger: { source: 'scheduled', userId: actor },
    source: 'scheduler',
    key: undefined,
    requestHash: requestHash('schedule trigger', { id, requestId }),
    threadId: id,
    ...context,
  });
  return runId;
}
