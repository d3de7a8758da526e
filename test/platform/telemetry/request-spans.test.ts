import { describe, expect, test } from '@jest/globals';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import { parseTraceparent, traceparentOf } from '../../../packages/cairn/src/core/trace.ts';
import { tracedHandler } from '../../../packages/cairn/src/platform/telemetry/request-span.ts';
import { tracedQueue } from '../../../packages/cairn/src/platform/telemetry/traced-queue.ts';
import type { Enqueue } from '../../../packages/cairn/src/ports/metrics.ts';
import type { DriveTask } from '../../../packages/cairn/src/ports/task-queue.ts';
import { Installation } from '../../api/installation.ts';
import { CollectedSpans } from '../../support/collected-spans.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', sampled: true };

function traced() {
  const spans = new CollectedSpans();
  return { spans, tracer: spans.tracerBy(new VirtualClock()) };
}

describe('a request', () => {
  const request = (headers: Record<string, string> = {}, path = '/webhooks/github?secret=hunter2') =>
    new Request(`http://functions.invalid${path}`, { method: 'POST', headers });

  test('is a span below its caller, and its work is below that span', async () => {
    const { spans, tracer } = traced();
    let seen: string | null = null;
    const handler = tracedHandler(
      tracer,
      (asked) => {
        seen = asked.headers.get('traceparent');
        return new Response(null, { status: 202 });
      },
      '/webhooks/github',
    );
    await handler(request({ traceparent: traceparentOf(CALLER) }));
    expect(spans.ended).toMatchObject([
      {
        name: 'POST /webhooks/github',
        kind: 'server',
        parent: CALLER,
        failure: undefined,
        attributes: {
          'http.request.method': 'POST',
          'http.route': '/webhooks/github',
          'http.response.status_code': 202,
          'faas.trigger': 'http',
        },
      },
    ]);
    expect(parseTraceparent(seen)).toEqual(spans.ended[0]?.context);
    expect(JSON.stringify(spans.ended)).not.toContain('hunter2');
  });

  test("without a caller's trace begins one", async () => {
    const { spans, tracer } = traced();
    await tracedHandler(tracer, () => new Response())(request());
    expect(spans.ended).toMatchObject([{ parent: undefined, name: 'POST' }]);
  });

  test('failed if it was answered 5xx, or not at all', async () => {
    const { spans, tracer } = traced();
    await tracedHandler(tracer, () => new Response(null, { status: 503 }))(request());
    await tracedHandler(tracer, () => new Response(null, { status: 404 }))(request());
    const broken = tracedHandler(tracer, () => {
      throw new Error('hunter2');
    });
    await expect(Promise.resolve(broken(request()))).rejects.toThrow();
    expect(spans.ended.map(({ failure }) => failure)).toEqual(['503', undefined, 'INTERNAL']);
  });

  test('of a monitor of the installation leaves no span', async () => {
    const { spans, tracer } = traced();
    const handler = tracedHandler(tracer, () => new Response());
    for (const path of ['/v1/healthz', '/v1/metrics']) await handler(request({}, path));
    expect(spans.ended).toEqual([]);
  });

  test('is unchanged where no traces are collected', async () => {
    const handler = (asked: Request) => new Response(asked.headers.get('traceparent'));
    expect(tracedHandler(undefined, handler)).toBe(handler);
  });
});

describe('a request to the API', () => {
  test('is named by its route, not by its path, and has the id of its run', async () => {
    const { spans, tracer } = traced();
    const installation = new Installation();
    const key = await installation.key('dev', { roles: ['operator'] });
    const api = createApi(installation.apiDeps);
    const handler = tracedHandler(tracer, (response, span) => api.fetch(response, span && { span }));
    const authorization = `Bearer ${key}`;
    const runId = await installation.world.start('echo', { text: 'x' }, { tenantId: 'acme' });
    for (const path of [`/v1/runs/${runId}`, '/v1/runs', '/v1/nowhere', `/v1/runs/${runId}/hunter2`])
      await handler(new Request(`http://functions.invalid${path}`, { headers: { authorization } }));
    expect(
      spans.ended.map(({ name, attributes }) => [name, attributes['http.response.status_code']]),
    ).toEqual([
      ['GET /v1/runs/{id}', 200],
      ['GET /v1/runs', 200],
      ['GET', 404],
      ['GET', 404],
    ]);
    expect(spans.ended[0]?.attributes['cairn.run.id']).toBe(runId);
    expect(JSON.stringify(spans.ended)).not.toContain('hunter2');
  });

  test('that starts a run begins the trace of the run', async () => {
    const { spans, tracer } = traced();
    const installation = new Installation();
    const { apiDeps } = installation;
    const key = await installation.key('dev', { roles: ['submitter'] });
    const api = createApi({ ...apiDeps, tracer });
    const handler = tracedHandler(tracer, (response, span) => api.fetch(response, span && { span }));
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ type: 'echo', input: { text: 'hunter2' } });
    const answer = await handler(
      new Request('http://functions.invalid/v1/runs', { method: 'POST', headers, body }),
    );
    expect(answer.status).toBe(201);
    const [start, request] = spans.ended;
    expect([start?.name, request?.name]).toEqual(['start echo', 'POST /v1/runs']);
    expect(start?.parent).toEqual(request?.context);
    const [run] = installation.world.db.runs.values();
    expect(run?.snapshot).toMatchObject({ traceId: request?.context.traceId, traceSampled: true });
    expect(JSON.stringify(spans.ended)).not.toContain('hunter2');
  });
});

describe('a task', () => {
  const TASK: DriveTask = { runId: 'run_x', reason: 'start', trace: CALLER };

  test('is a span when it is sent, and carries the id of that span', async () => {
    const { spans, tracer } = traced();
    const sent: DriveTask[] = [];
    const counted: Enqueue[] = [];
    const counts = { enqueue: (one: Enqueue) => void counted.push(one), scan() {} };
    const queue = tracedQueue({ queue: { enqueue: async (task) => void sent.push(task) }, counts, tracer });
    await queue.enqueue(TASK);
    expect(spans.ended).toMatchObject([
      { name: 'send drive', kind: 'producer', parent: CALLER, attributes: { 'cairn.drive.reason': 'start' } },
    ]);
    expect(sent).toEqual([{ ...TASK, trace: spans.ended[0]?.context }]);
    await queue.enqueue({ runId: 'run_x', reason: 'continue' });
    expect([spans.ended.length, sent[1]]).toEqual([1, { runId: 'run_x', reason: 'continue' }]);
    expect(counted).toEqual([
      { reason: 'start', result: 'accepted' },
      { reason: 'continue', result: 'accepted' },
    ]);
  });

  test('that the queue refuses is counted, reported, and still refused', async () => {
    const { spans, tracer } = traced();
    const counted: Enqueue[] = [];
    const enqueue = async () => {
      throw new Error('down');
    };
    const counts = { enqueue: (one: Enqueue) => void counted.push(one), scan() {} };
    await expect(tracedQueue({ queue: { enqueue }, counts, tracer }).enqueue(TASK)).rejects.toThrow('down');
    expect(spans.ended).toMatchObject([{ failure: 'Error' }]);
    expect(counted).toEqual([{ reason: 'start', result: 'failed' }]);
  });
});
