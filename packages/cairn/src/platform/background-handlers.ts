/**
 * Handlers of functions without a waiting caller: dispatches, ticks and messages. Loaded on demand, without the API and
 * Node's `fetch`.
 */
import type { TaskDelivery } from '../core/decisions/claim.ts';
import { isRunId } from '../core/encoding/ids.ts';
import { parseTraceparent } from '../core/trace.ts';
import { drive } from '../engine/drive/drive.ts';
import { withHeartbeat } from '../operations/diagnosis/with-heartbeat.ts';
import { sampleRuns } from '../operations/integrity/sample-runs.ts';
import { deleteExpiredRuns } from '../operations/retention/delete-expired.ts';
import { noticeRestore } from '../operations/runtime/restore.ts';
import type { Log } from '../ports/log.ts';
import type { RunStatistics } from '../ports/run-statistics.ts';
import { scan } from '../recovery/scan.ts';
import { takeMessage } from '../triggers/pubsub/take-message.ts';
import { tick } from '../triggers/schedule/tick.ts';
import type { CairnInstallation } from './installation/installation.ts';
import { endWhenBroken } from './instance/builtins.ts';
import { surviveRejections } from './instance/stray-rejections.ts';
import { platformLog } from './log.ts';
import { compose } from './root.ts';
import { countActive } from './telemetry/active-runs.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

/** True after this instance has received a task. */
let hasDriven = false;

/**
 * Opens the clients that the first task would open, in a process that is idle before its first request or kept in reserve.
 * Sends nothing, so that it does not count as an operation and injected faults do not apply to it.
 */
export async function warmUp(installation: CairnInstallation): Promise<void> {
  const { connect } = await compose(installation);
  await Promise.all(connect.map((each) => each()));
}

/** The delivery, from the headers that the queue sends to task functions. */
export interface TaskRequest {
  readonly data: unknown;
  readonly id: string;
  readonly queueName: string;
  readonly retryCount: number;
  readonly previousResponse?: number | undefined;
}

/** Queue that delivered a dispatch. */
interface DriveQueue {
  readonly alone: boolean;
  /** Class of the queue's workflows; undefined: workflows without a class. */
  readonly pool?: string | undefined;
}

/** Status of a dispatch that could not continue. For an instance that died, the platform responds with a 5xx. */
const ANSWERED_LATER = 409;

/** Handles one task of the queue. `later`: the queue should deliver it again. An invalid task counts as done, because it would stay invalid. */
export async function driveTask(
  installation: CairnInstallation,
  request: TaskRequest,
  { alone, pool }: DriveQueue,
): Promise<'done' | 'later'> {
  const { data } = request;
  const { engine, engineOf, telemetry } = await compose(installation);
  const isFirst = !hasDriven;
  hasDriven = true;
  if (isFirst) {
    surviveRejections(platformLog);
    endWhenBroken(platformLog);
  }
  const runId = typeof data === 'object' && data !== null && 'runId' in data ? data.runId : undefined;
  if (typeof runId !== 'string' || !isRunId(runId)) {
    engine.log.error('drive_task_invalid', { data });
    return 'done';
  }
  try {
    await drive(engineOf(pool), {
      runId,
      isCold: isFirst,
      alone,
      pool,
      delivery: deliveryOf(request),
      watches: isMarked(data, 'watches'),
      skipsBackoff: isMarked(data, 'asked'),
      trace: parseTraceparent(traceparentIn(data)),
    });
    return 'done';
  } catch (error) {
    engine.log.warn('drive_postponed', { runId, error });
    return 'later';
  } finally {
    await (alone ? telemetry?.lastWorkEnded() : telemetry?.workEnded());
  }
}

/** Undefined without the headers, as in a manual call. */
function deliveryOf({ id, queueName, retryCount, previousResponse }: TaskRequest): TaskDelivery | undefined {
  if (!id || !Number.isSafeInteger(retryCount)) return undefined;
  return { name: `${queueName}/${id}`, retryCount, answered: previousResponse === ANSWERED_LATER };
}

function isMarked(data: unknown, name: 'watches' | 'asked'): boolean {
  return (data as Readonly<Record<string, unknown>>)[name] === true;
}

/** Trace context of the task's creator, if any. */
function traceparentIn(data: unknown): string | undefined {
  const { traceparent } = data as { readonly traceparent?: unknown };
  return typeof traceparent === 'string' ? traceparent : undefined;
}

export async function recover(installation: CairnInstallation): Promise<void> {
  const { engine, telemetry, statistics, restore, heartbeat } = await compose(installation);
  await withHeartbeat(heartbeat, 'recoverRuns', async () => {
    await noticeRestore(restore);
    const { off } = await scan({ ...engine, counts: telemetry });
    return { off };
  });
  if (telemetry) await reportActive(telemetry, { statistics, log: engine.log });
}

/** Reports the runs of all tenants, in one function only. A failure does not fail the scan. */
async function reportActive(
  telemetry: Telemetry,
  { statistics, log }: { statistics: RunStatistics; log: Log },
): Promise<void> {
  try {
    const { activity, isCut } = await countActive(statistics);
    if (isCut) log.warn('telemetry_tenants_left_out', { counted: activity.length });
    await telemetry.reportActive(activity);
  } catch (error) {
    log.warn('telemetry_not_counted', { error });
  }
}

export async function fireDueSchedules(installation: CairnInstallation): Promise<void> {
  const { schedules, telemetry, heartbeat } = await compose(installation);
  await withHeartbeat(heartbeat, 'fireSchedules', async () => {
    const report = await tick(schedules);
    if (report.due > 0) schedules.log.info('schedule_tick', { ...report });
    return {};
  });
  await telemetry?.workEnded();
}

/** No caller waits: runs that could not be checked are checked an hour later. */
export async function checkSample(installation: CairnInstallation): Promise<void> {
  const { sample, telemetry, heartbeat } = await compose(installation);
  await withHeartbeat(heartbeat, 'checkRuns', async () => {
    const { problems, ...report } = await sampleRuns(sample);
    sample.log.info('runs_sampled', report);
    return { found: { checked: report.checked, problems } };
  });
  await telemetry?.workEnded();
}

export async function deleteOldRuns(installation: CairnInstallation): Promise<void> {
  const { retention, telemetry, heartbeat } = await compose(installation);
  await withHeartbeat(heartbeat, 'deleteExpired', async () => {
    const report = await deleteExpiredRuns(retention);
    const { kept: _, off, erasures, ...done } = report;
    if (Object.values({ ...done, ...erasures }).some((count) => count > 0))
      retention.log.info('retention_tick', { ...report });
    return { off };
  });
  await telemetry?.workEnded();
}

/** @throws if the message must be delivered again */
export async function takeTopicMessage(
  installation: CairnInstallation,
  topic: string,
  delivered: unknown,
): Promise<void> {
  const { messages, telemetry } = await compose(installation);
  try {
    await takeMessage(messages, topic, delivered);
  } catch (error) {
    messages.log.warn('pubsub_message_postponed', { topic, error });
    throw error;
  } finally {
    await telemetry?.workEnded();
  }
}
