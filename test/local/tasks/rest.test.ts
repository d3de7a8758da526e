/** Cloud Tasks over REST: the generated client with `fallback`. */
import { CloudTasksClient } from '@google-cloud/tasks';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { outcomesOf, type Step } from '../both-transports.ts';
import { restOptions } from '../rest-auth.ts';
import { LOCATION, QUEUE, startTasks, type TasksFixture } from './tasks-fixture.ts';

let fixtures: readonly TasksFixture[];
let rest: CloudTasksClient;

beforeAll(async () => {
  fixtures = [await startTasks(), await startTasks()];
  rest = new CloudTasksClient(restOptions(fixtures[1]?.server.host ?? ''));
});
afterAll(async () => {
  await rest.close();
  for (const fixture of fixtures) await fixture.stop();
});

const url = 'http://127.0.0.1:1/target';
const TASK = `${QUEUE}/tasks/chosen`;
const later = { seconds: Date.UTC(2026, 0, 2) / 1000 };
const headers = { 'X-Custom': 'é' };
const oidcToken = { serviceAccountEmail: 'a@b.c' };

const STEPS: readonly Step[] = [
  ['getQueue', { name: QUEUE }],
  ['createQueue', { parent: LOCATION, queue: { name: QUEUE, rateLimits: { maxDispatchesPerSecond: 1.5 } } }],
  ['createQueue', { parent: LOCATION, queue: { name: QUEUE } }],
  ['createQueue', { parent: LOCATION, queue: { name: 'nonsense' } }],
  [
    'updateQueue',
    {
      queue: { name: QUEUE, retryConfig: { maxAttempts: 3, minBackoff: { seconds: 1, nanos: 500_000_000 } } },
      updateMask: { paths: ['retry_config.max_attempts', 'retry_config.min_backoff'] },
    },
  ],
  ['updateQueue', { queue: { name: QUEUE }, updateMask: { paths: ['nonsense'] } }],
  ['pauseQueue', { name: QUEUE }],
  ['listQueues', { parent: LOCATION, filter: 'state=PAUSED' }],
  [
    'createTask',
    {
      parent: QUEUE,
      task: {
        name: TASK,
        scheduleTime: later,
        httpRequest: { url, httpMethod: 'PUT', headers, body: Buffer.from([0, 255, 62, 63]), oidcToken },
      },
      responseView: 'FULL',
    },
  ],
  ['createTask', { parent: QUEUE, task: { name: TASK, httpRequest: { url } } }],
  ['createTask', { parent: QUEUE, task: { dispatchDeadline: { seconds: 20 }, httpRequest: { url } } }],
  ['createTask', { parent: QUEUE, task: { dispatchDeadline: { seconds: 1 }, httpRequest: { url } } }],
  ['createTask', { parent: QUEUE, task: { httpRequest: { url: 'ftp://nowhere' } } }],
  ['createTask', { parent: QUEUE, task: { httpRequest: {} } }],
  ['createTask', { parent: QUEUE, task: {} }],
  ['createTask', { parent: QUEUE, task: { appEngineHttpRequest: { relativeUri: '/' } } }],
  [
    'createTask',
    {
      parent: QUEUE,
      task: { scheduleTime: later, httpRequest: { url, oauthToken: { serviceAccountEmail: 'a@b.c' } } },
    },
  ],
  [
    'updateQueue',
    {
      queue: { name: QUEUE, appEngineRoutingOverride: { service: 's', version: 'v' } },
      updateMask: { paths: ['app_engine_routing_override.service'] },
    },
  ],
  ['createTask', { parent: `${LOCATION}/queues/none`, task: { httpRequest: { url } } }],
  ['getTask', { name: TASK, responseView: 'FULL' }],
  ['getTask', { name: TASK }],
  ['listTasks', { parent: QUEUE, responseView: 'BASIC' }],
  ['runTask', { name: TASK }],
  ['deleteTask', { name: `${QUEUE}/tasks/none` }],
  [
    'setIamPolicy',
    { resource: QUEUE, policy: { bindings: [{ role: 'roles/viewer', members: ['allUsers'] }] } },
  ],
  ['getIamPolicy', { resource: QUEUE }],
  ['testIamPermissions', { resource: QUEUE, permissions: ['cloudtasks.queues.get'] }],
  ['resumeQueue', { name: QUEUE }],
  ['purgeQueue', { name: QUEUE }],
  ['deleteQueue', { name: QUEUE }],
  ['deleteQueue', { name: QUEUE }],
];

test('every call answers over REST as over gRPC', async () => {
  const expected = await outcomesOf(STEPS, [fixtures[0]?.client ?? {}]);
  const outcomes = await outcomesOf(STEPS, [rest]);
  for (const [i, step] of STEPS.entries()) expect([step, outcomes[i]]).toEqual([step, expected[i]]);
});
