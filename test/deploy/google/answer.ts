/** Answers of the pretended Google. A call changes the model and nothing else. */
import type { BrokenCall, Failure, Google } from './model.ts';
import { type Answer, Refusal, type Request, type Route } from './route.ts';
import { accounts } from './services/accounts.ts';
import { artifacts } from './services/artifacts.ts';
import { firestore } from './services/firestore.ts';
import { functions } from './services/functions.ts';
import { hosting } from './services/hosting.ts';
import { projects } from './services/projects.ts';
import { pubsub } from './services/pubsub.ts';
import { run } from './services/run.ts';
import { scheduler } from './services/scheduler.ts';
import { secrets } from './services/secrets.ts';
import { tasks } from './services/tasks.ts';

const ROUTES: readonly Route[] = [
  ...accounts,
  ...artifacts,
  ...firestore,
  ...functions,
  ...hosting,
  ...projects,
  ...pubsub,
  ...run,
  ...scheduler,
  ...secrets,
  ...tasks,
];

/** These answer whether or not they are enabled in the project that is asked about. */
const ALWAYS_ON = [
  'firebase-public.firebaseio.com',
  'serviceusage.googleapis.com',
  'cloudresourcemanager.googleapis.com',
  'storage.googleapis.com',
  'upload-firebasehosting.googleapis.com',
];

const isOff = ({ apis }: Google, host: string) => !ALWAYS_ON.includes(host) && !apis.includes(host);

const INTERNAL: Failure = { status: 500, reason: 'INTERNAL' };
const NO_ANSWER: Answer = { status: undefined, body: null };

/** Counts the call. */
function failureOf(broken: BrokenCall | undefined): BrokenCall['how'] {
  if (broken === undefined) return undefined;
  if (broken.skip > 0) {
    broken.skip -= 1;
    return undefined;
  }
  if (broken.times <= 0) return undefined;
  broken.times -= 1;
  return broken.how ?? INTERNAL;
}

export async function answer(google: Google, request: Request): Promise<Answer> {
  const { method, url } = request;
  const path = decodeURIComponent(url.pathname);
  const response = await found(google, request, path);
  const body = request.body === undefined ? null : structuredClone(request.body);
  google.calls.push({ method, host: url.host, path: path + url.search, status: response.status ?? 0, body });
  return response;
}

function refused(failure: Exclude<Failure, string> | Refusal, path: string): Answer {
  const { status, reason, message = `The call of ${path} failed` } = failure;
  const body = { error: { code: status, status: reason, message } };
  return { status, body, ...('headers' in failure && { headers: failure.headers }) };
}

async function found(google: Google, request: Request, path: string): Promise<Answer> {
  const { method, url } = request;
  for (const route of ROUTES) {
    if (route.host !== url.host || route.method !== method) continue;
    const groups = route.path.exec(path)?.groups;
    if (!groups && !route.path.test(path)) continue;
    try {
      if (route.needs !== undefined && google.denied.includes(route.needs))
        throw new Refusal(
          403,
          'PERMISSION_DENIED',
          `Permission '${route.needs}' denied on resource '${path}'`,
        );
      const failure = failureOf(google.broken[route.needs ?? route.host]);
      if (failure === 'cut') return NO_ANSWER;
      if (typeof failure === 'function') failure();
      else if (failure !== undefined && failure !== 'lost') return refused(failure, path);
      if (isOff(google, url.host))
        throw new Refusal(
          403,
          'PERMISSION_DENIED',
          `${url.host} has not been used in project ${google.number} before or it is disabled.`,
        );
      const body = structuredClone(await route.answer(google, groups ?? {}, request));
      return failure === 'lost' ? NO_ANSWER : { status: 200, body };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return refused(error, path);
    }
  }
  google.unanswered.push(`${method} ${url.host}${path}`);
  return {
    status: 501,
    body: { error: { code: 501, status: 'UNIMPLEMENTED', message: `no answer to ${path}` } },
  };
}
