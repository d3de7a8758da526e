/** Handlers of the HTTP functions, loaded on demand. They convert requests and responses. `background-handlers.ts` has the handlers of the other functions. */
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

export const answerGithub = webhook('/webhooks/github', ({ github }, request) =>
  githubWebhook(github, request),
);

export const answerSlack = webhook('/webhooks/slack', ({ slack }, request) => slackWebhook(slack, request));

function webhook(
  route: string,
  handle: (root: Root, request: Request) => Promise<Response>,
): typeof answerApi {
  return async (installation, request, response) => {
    const root = await compose(installation);
    await answer(root, { request, response, handle: (each) => handle(root, each), route });
  };
}

interface HttpExchange {
  readonly request: FunctionRequest;
  readonly response: FunctionResponse;
  readonly handle: RequestHandler;
  readonly route?: string;
}

/**
 * If the store does not respond within the budget of {@link RequestBudget}, the response is a 503. Metrics are
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
