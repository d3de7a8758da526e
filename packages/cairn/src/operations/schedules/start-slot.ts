/**
 * Starts the run of a slot once, however often it is requested: repetitions are recognised by the key of the slot, and by
 * the run id after the record of the key has expired.
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
  /** `existing`: it was started before, perhaps by a newer version that wrote what this one cannot read. */
  readonly kind: 'started' | 'existing';
  readonly runId: string;
}

/** @throws CairnError NOT_FOUND (the workflow is not deployed), INVALID_INPUT, PAYLOAD_TOO_LARGE, UNAVAILABLE */
export async function startSlot(deps: ScheduleDeps, schedule: Schedule, slot: number): Promise<SlotStarted> {
  const { id, tenantId } = schedule;
  const workflow = deployed(deps, schedule.type);
  const runId = slotRunId(id, slot);
  const key = schedulerKey(id, slot);
  if (await runExists(deps, runId)) {
    const source = 'scheduler';
    logHit(deps.log, { key, source, tenantId, cachedRunId: runId });
    deps.metrics.answered({ tenantId, source, result: 'hit' });
    return { kind: 'existing', runId };
  }
  const outcome = await startRun(deps, {
    runId,
    tenantId,
    environment: deps.environment,
    workflow,
    input: inputForSlot(workflow.input, schedule.input, slot),
    trigger: { source: 'scheduled', slotAt: slot },
    source: 'scheduler',
    key,
    // Without the input: a slot that is repeated after a change of the schedule is the same run.
    requestHash: requestHash('schedule', { id, slot }),
    // The list of runs can be narrowed to those of one schedule.
    threadId: id,
  });
  if (outcome.kind === 'in_flight') throw new CairnError('UNAVAILABLE', 'another start is in progress');
  return { kind: outcome.kind === 'created' ? 'started' : 'existing', runId: outcome.runId };
}

/** The version new runs get. @throws CairnError NOT_FOUND */
export function deployed({ registry }: Pick<ScheduleDeps, 'registry'>, type: string): Workflow {
  const workflow = registry.newest(type);
  if (workflow) return workflow;
  throw new CairnError('NOT_FOUND', `no workflow ${JSON.stringify(type.slice(0, 100))} is deployed`, {
    field: 'type',
    help: 'GET /v1/workflows lists the types.',
  });
}
