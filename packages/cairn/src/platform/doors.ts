/** What each deployed function does with what it is given, once it is loaded: adapts, calls, adapts back. */
import type { Request as FunctionRequest } from 'firebase-functions/https';
import { createApi } from '../api/app.ts';
import { isRunId } from '../core/encoding/ids.ts';
import { optional } from '../core/optional.ts';
import { parseTraceparent } from '../core/trace.ts';
import { drive } from '../engine/drive/drive.ts';
import { beating } from '../operations/diagnosis/beating.ts';
import { sampleRuns } from '../operations/integrity/sample-runs.ts';
import { sweepRetention } from '../operations/retention/sweep.ts';
import type { Log } from '../ports/log.ts';
import type { RunCensus } from '../ports/run-census.ts';
import { scan } from '../recovery/scan.ts';
import { githubWebhook } from '../triggers/github/webhook.ts';
import { takeMessage } from '../triggers/pubsub/take-message.ts';
import { tick } from '../triggers/schedule/tick.ts';
import { slackWebhook } from '../triggers/slack/webhook.ts';
import { exchange, type FunctionResponse } from './http.ts';
import { platformLog } from './log.ts';
import { compose } from './root.ts';
import { surviveRejections } from './stray-rejections.ts';
import { countActive } from './telemetry/active-runs.ts';
import { type TracedDoor, tellingDoor } from './telemetry/request-span.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

type Api = ReturnType<typeof createApi>;

let api: Api | undefined;
/** Whether this instance has been given a task before. */
let hasDriven = false;

export async function answerApi(request: FunctionRequest, response: FunctionResponse): Promise<void> {
  api ??= createApi(compose().api);
  const door = api;
  await answer(request, response, (asked, span) => door.fetch(asked, span && { span }));
}

export async function answerGithub(request: FunctionRequest, response: FunctionResponse): Promise<void> {
  const door = (asked: Request) => githubWebhook(compose().github, asked);
  await answer(request, response, door, '/webhooks/github');
}

export async function answerSlack(request: FunctionRequest, response: FunctionResponse): Promise<void> {
  const door = (asked: Request) => slackWebhook(compose().slack, asked);
  await answer(request, response, door, '/webhooks/slack');
}

/** What was counted is told when the whole answer is out. */
async function answer(
  request: FunctionRequest,
  response: FunctionResponse,
  door: TracedDoor,
  route?: string,
): Promise<void> {
  const { engine, telemetry } = compose();
  await exchange({ request, response, log: platformLog }, tellingDoor(engine.tracer, door, route));
  await telemetry?.workEnded();
}

/**
 * One task of the queue. `later`: the queue should deliver it again. A task that makes no sense is done, since it will
 * make no more sense the next time.
 */
export async function driveTask(data: unknown): Promise<'done' | 'later'> {
  const { engine, telemetry } = compose();
  const isFirst = !hasDriven;
  hasDriven = true;
  if (isFirst) surviveRejections(platformLog);
  const runId = typeof data === 'object' && data !== null && 'runId' in data ? data.runId : undefined;
  if (typeof runId !== 'string' || !isRunId(runId)) {
    engine.log.error('drive_task_invalid', { data });
    return 'done';
  }
  try {
    await drive(engine, {
      runId,
      isCold: isFirst,
      ...optional('trace', parseTraceparent(traceparentIn(data))),
    });
    return 'done';
  } catch (error) {
    engine.log.warn('drive_postponed', { runId, error });
    return 'later';
  } finally {
    await telemetry?.workEnded();
  }
}

/** By whose wish the task was made, if its maker said. */
function traceparentIn(data: unknown): string | undefined {
  const { traceparent } = data as { readonly traceparent?: unknown };
  return typeof traceparent === 'string' ? traceparent : undefined;
}

export async function recover(): Promise<void> {
  const { engine, telemetry, census, beating: sign } = compose();
  await beating(sign, 'recoverRuns', async () => {
    const report = await scan({ ...engine, counts: telemetry });
    if (report.found > 0) engine.log.info('recovery_scan', { ...report });
    return { off: report.off };
  });
  if (telemetry) await tellActive(telemetry, { census, log: engine.log });
}

/** Once for all tenants, here and in no other instance. That it fails is no reason to call the scan failed. */
async function tellActive(
  telemetry: Telemetry,
  { census, log }: { census: RunCensus; log: Log },
): Promise<void> {
  try {
    const { activity, isCut } = await countActive(census);
    if (isCut) log.warn('telemetry_tenants_left_out', { counted: activity.length });
    await telemetry.tellActive(activity);
  } catch (error) {
    log.warn('telemetry_not_counted', { error });
  }
}

export async function fireDueSchedules(): Promise<void> {
  const { schedules, telemetry, beating: sign } = compose();
  await beating(sign, 'fireSchedules', async () => {
    const report = await tick(schedules);
    if (report.due > 0) schedules.log.info('schedule_tick', { ...report });
    return {};
  });
  await telemetry?.workEnded();
}

/** Nobody waits for it: what could not be looked at is looked at in another hour. */
export async function checkSample(): Promise<void> {
  const { sample, telemetry, beating: sign } = compose();
  await beating(sign, 'checkRuns', async () => {
    const { problems, ...report } = await sampleRuns(sample);
    sample.log.info('runs_sampled', report);
    return { found: { checked: report.checked, problems } };
  });
  await telemetry?.workEnded();
}

export async function deleteOldRuns(): Promise<void> {
  const { retention, telemetry, beating: sign } = compose();
  await beating(sign, 'deleteExpired', async () => {
    const report = await sweepRetention(retention);
    const { kept: _, off, ...done } = report;
    if (Object.values(done).some((count) => count > 0)) retention.log.info('retention_tick', { ...report });
    return { off };
  });
  await telemetry?.workEnded();
}

/** @throws if the message is to be delivered again */
export async function takeTopicMessage(topic: string, delivered: unknown): Promise<void> {
  const { messages, telemetry } = compose();
  try {
    await takeMessage(messages, topic, delivered);
  } catch (error) {
    messages.start.log.warn('pubsub_message_postponed', { topic, error });
    throw error;
  } finally {
    await telemetry?.workEnded();
  }
}
