/**
 * Starts the run of a slot once, however often it is requested. The key of the slot identifies repetitions, and after its record
 * has expired the run id does.
 */
import { requestHash } from '../../core/encoding/fingerprint.ts';
import { schedulerKey } from '../../core/encoding/idempotency-keys.ts';
import { CairnError } from '../../core/errors.ts';
import { type Schedule, slotRunId } from '../../core/schedule/schedule.ts';
import { inputForSlot } from '../../engine/define/slot-input.ts';
import type { Workflow } from '../../engine/define/steps.ts';
import { runExists } from '../../engine/run-exists.ts';
import { logHit } from '../repeated-request.ts';
import { startRun } from '../start/start-run.ts';
import type { ScheduleDeps } from './deps.ts';

interface SlotStarted {
  /** `existing`: the run was started before, perhaps by a newer version whose documents this one cannot read. */
  readonly kind: 'started' | 'existing';
  readonly runId: string;
}

/** @throws CairnError NOT_FOUND (the workflow is not deployed), INVALID_INPUT, PAYLOAD_TOO_LARGE, UNAVAILABLE */
export async function startSlot(deps: ScheduleDeps, schedule: Schedule, slot: number): Promise<SlotStarted> {
  const { id, tenantId } = schedule;
  const runId = slotRunId(id, slot);
  const key = schedulerKey(id, slot);
  if (await runExists(deps, runId)) {
    const source = 'scheduler';
    logHit(deps.log, { key, source, tenantId, cachedRunId: runId });
    deps.metrics.answered({ tenantId, source, result: 'hit' });
    return { kind: 'existing', runId };
  }
  const workflow = deployed(deps, schedule.type);
  const outcome = await startRun(deps, {
    runId,
    tenantId,
    environment: deps.environment,
    workflow,
    input: inputForSlot(workflow.input, schedule.input, slot),
    trigger: { source: 'scheduled', slotAt: slot },
    source: 'scheduler',
    key,
    // The hash excludes the input: a slot that is repeated after a change of the schedule is the same run.
    requestHash: requestHash('schedule', { id, slot }),
    // The thread id makes it possible to list the runs of one schedule.
    threadId: id,
  });
  if (outcome.kind === 'in_flight') throw new CairnError('UNAVAILABLE', 'another start is in progress');
  return { kind: outcome.kind === 'created' ? 'started' : 'existing', runId: outcome.runId };
}

/** The version of new runs. @throws CairnError NOT_FOUND */
export function deployed({ registry }: Pick<ScheduleDeps, 'registry'>, type: string): Workflow {
  const workflow = registry.newest(type);
  if (workflow) return workflow;
  throw new CairnError('NOT_FOUND', `no workflow ${JSON.stringify(type.slice(0, 100))} is deployed`, {
    field: 'type',
    help: 'GET /v1/workflows lists the types.',
  });
}
