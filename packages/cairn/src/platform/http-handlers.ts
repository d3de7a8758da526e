/** Handlers of the deployed HTTP functions, once loaded: adapt, call, adapt back. `background-handlers.ts` has those of all others. */
import type { Request as FunctionRequest } from 'firebase-functions/https';
import { createApi } from '../api/app.ts';
import { RequestBudget } from '../store/request-budget.ts';
import { githubWebhook } from '../triggers/github/webhook.ts';
import { slackWebhook } from '../triggers/slack/webhook.ts';
import { systemClock } from './clock.ts';
import { exchange, type FunctionResponse } from './http.ts';
import type { CairnInstallation } from './installation/installation.ts';
import { compose, type Root } from './root.ts';
import { type RequestHandler, tracedHandler } from './telemetry/request-span.ts';

const apis = new WeakMap<Root, ReturnType<typeof createApi>>();

export async function answerApi(
  installation: CairnInstallation,
  request: FunctionRequest,
  response: FunctionResponse,
): Promise<void> {
  const root = await compose(installation);
  const api = apis.get(root) ?? createApi(root.api);
  apis.set(root, api);
  await answer(root, { request, response, handle: (request, span) => api.fetch(request, span && { span }) });
}

export async function answerGithub(
  installation: CairnInstallation,
  request: FunctionRequest,
  response: FunctionResponse,
): Promise<void> {
  const root = await compose(installation);
  const handle = (request: Request) => githubWebhook(root.github, request);
  await answer(root, { request, response, handle, route: '/webhooks/github' });
}

export async function answerSlack(
  installation: CairnInstallation,
  request: FunctionRequest,
  response: FunctionResponse,
): Promise<void> {
  const root = await compose(installation);
  const handle = (request: Request) => slackWebhook(root.slack, request);
  await answer(root, { request, response, handle, route: '/webhooks/slack' });
}

interface HttpExchange {
  readonly request: FunctionRequest;
  readonly response: FunctionResponse;
  readonly handle: RequestHandler;
  readonly route?: string;
}

/**
 * If the store does not respond within the budget of {@link RequestBudget}, the request is answered 503. Metrics are
 * reported after the response.
 */
async function answer(
  { engine, telemetry }: Root,
  { request, response, handle, route }: HttpExchange,
): Promise<void> {
  const budget = new RequestBudget(systemClock);
  const inTime: RequestHandler = (request, span) => budget.run(async () => handle(request, span));
  await exchange({ request, response, log: engine.log }, tracedHandler(engine.tracer, inTime, route));
  await telemetry?.workEnded();
}
