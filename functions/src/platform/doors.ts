/** What each deployed function does with what it is given, once it is loaded: adapts, calls, adapts back. */
import type { Request as FunctionRequest } from 'firebase-functions/https';
import { createApi } from '../api/app.ts';
import { isRunId } from '../core/encoding/ids.ts';
import { drive } from '../engine/drive/drive.ts';
import { scan } from '../recovery/scan.ts';
import { githubWebhook } from '../triggers/github/webhook.ts';
import { tick } from '../triggers/schedule/tick.ts';
import { slackWebhook } from '../triggers/slack/webhook.ts';
import { exchange, type FunctionResponse } from './http.ts';
import { platformLog } from './log.ts';
import { compose } from './root.ts';

type Api = ReturnType<typeof createApi>;

let api: Api | undefined;

export async function answerApi(request: FunctionRequest, response: FunctionResponse): Promise<void> {
  api ??= createApi(compose().api);
  const door = api;
  await exchange({ request, response, log: platformLog }, (asked) => door.fetch(asked));
}

export async function answerGithub(request: FunctionRequest, response: FunctionResponse): Promise<void> {
  await exchange({ request, response, log: platformLog }, (asked) => githubWebhook(compose().github, asked));
}

export async function answerSlack(request: FunctionRequest, response: FunctionResponse): Promise<void> {
  await exchange({ request, response, log: platformLog }, (asked) => slackWebhook(compose().slack, asked));
}

/**
 * One task of the queue. `later`: the queue should deliver it again. A task that makes no sense is done, since it will
 * make no more sense the next time.
 */
export async function driveTask(data: unknown): Promise<'done' | 'later'> {
  const { engine } = compose();
  const runId = typeof data === 'object' && data !== null && 'runId' in data ? data.runId : undefined;
  if (typeof runId !== 'string' || !isRunId(runId)) {
    engine.log.error('drive_task_invalid', { data });
    return 'done';
  }
  try {
    await drive(engine, { runId });
    return 'done';
  } catch (error) {
    engine.log.warn('drive_postponed', { runId, error });
    return 'later';
  }
}

export async function recover(): Promise<void> {
  const { engine } = compose();
  const report = await scan(engine);
  if (report.found > 0) engine.log.info('recovery_scan', { ...report });
}

export async function fireDueSchedules(): Promise<void> {
  const { schedules } = compose();
  const report = await tick(schedules);
  if (report.due > 0) schedules.log.info('schedule_tick', { ...report });
}
