import { describe, expect, test } from '@jest/globals';
import { openApi } from '../../../packages/cairn/src/api/openapi/document.ts';
import { Installation } from '../installation.ts';
import { validatorOf } from './checked.ts';

const document = openApi('1.2.3');
const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
);

test('the document has every route of the app, and no other', () => {
  const registered = new Installation().api.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
  expect(registered.length).toBeGreaterThan(0);
  expect([...described].sort()).toEqual([...registered].sort());
});

test('is served unchanged, to everybody, with the version of the installation', async () => {
  const answer = await new Installation().api.request('/v1/openapi.json');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
  expect(await answer.json()).toEqual(JSON.parse(JSON.stringify(document)));
  expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' } });
});

test.each(['/v1/openapi.json', '/v1/docs'])('%s refuses parameters it does not know', async (path) => {
  const answer = await new Installation().api.request(`${path}?version=2`);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ code: 'INVALID_INPUT', field: 'version' });
});

describe('the document', () => {
  const schemas = new Set(Object.keys(document.components.schemas));

  test('refers only to schemas it holds, and holds none without a reference', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, to = '']) => to);
    for (const to of references) expect(to).toMatch(/^#\/components\/schemas\/\w+$/);
    const used = new Set(references.map((to) => to.slice('#/components/schemas/'.length)));
    expect([...used].filter((name) => !schemas.has(name))).toEqual([]);
    expect([...schemas].filter((name) => !used.has(name))).toEqual([]);
  });

  test('names its server, the subject of each operation, and the roles that may call it', () => {
    expect(document.servers).toEqual([{ url: '/' }]);
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const named = new Set(document.tags.map(({ name }) => name));
    for (const { tags, description } of operations) {
      expect((tags as string[]).filter((tag) => !named.has(tag))).toEqual([]);
      expect(description).toMatch(/^(Requires the role \w+ or higher|Requires no credentials)/);
    }
  });

  test('names each operation once', () => {
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('declares every parameter of a path', () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const { parameters = [] } of Object.values(methods)) {
        const declared = (parameters as { in: string; name: string; required?: boolean }[])
          .filter((one) => one.in === 'path' && one.required)
          .map(({ name }) => name);
        expect(declared).toEqual(names);
      }
    }
  });

  test('lets mutations take an idempotency key, except those that need none', () => {
    // The first changes nothing; repetitions of the second have the same answer.
    const unkeyed = ['/v1/runs/{id}/preview', '/v1/runs/{id}/waits/{stepId}/heartbeat'];
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { parameters = [] }] of Object.entries(methods)) {
        const names = (parameters as { name: string }[]).map(({ name }) => name);
        expect(names.includes('Idempotency-Key')).toBe(method !== 'get' && !unkeyed.includes(path));
      }
    }
  });

  test('requires a body exactly where an empty one is refused', () => {
    const required = (path: string, method: string) =>
      (document.paths[path]?.[method]?.requestBody as { required: boolean } | undefined)?.required;
    expect(required('/v1/runs', 'post')).toBe(true);
    expect(required('/v1/runs/{id}/cancel', 'post')).toBe(false);
    expect(document.components.schemas.StartBody).toMatchObject({
      required: ['type', 'input'],
      additionalProperties: false,
    });
    expect(document.components.schemas.NewScheduleBody).toMatchObject({ required: ['type', 'cron'] });
  });
});

describe('permissions', () => {
  const open = new Set(['GET /v1/healthz', 'GET /v1/openapi.json', 'GET /v1/docs']);
  const ROLES = ['viewer', 'submitter', 'operator', 'admin', 'installation'] as const;

  test.each(described)('%s admits exactly the roles of the document', async (route) => {
    const [method = '', template = ''] = route.split(' ');
    const operation = document.paths[template]?.[method.toLowerCase()];
    const path = template.replace(/\{\w+\}/g, 'x');
    const installation = new Installation();
    const anonymous = await installation.api.request(path, { method });
    if (open.has(route)) {
      expect(operation?.security).toEqual([]);
      expect(anonymous.status).toBe(200);
      return;
    }
    expect(anonymous.status).toBe(401);
    const least = ROLES.findIndex((role) => String(operation?.description).includes(`role ${role} or`));
    expect(least).toBeGreaterThanOrEqual(0);
    for (const [rank, role] of ROLES.entries()) {
      const key = await installation.key(role, { roles: [role] });
      const answer = await installation.api.request(path, {
        method,
        headers: { authorization: `Bearer ${key}` },
      });
      expect([role, answer.status === 403]).toEqual([role, rank < least]);
    }
  });
});

test.each([
  ['a status that there is not', 'RunStarted', { status: 'done' }],
  ['a time in another form', 'RunStarted', { createdAt: 'today' }],
  ['a number as text', 'RunStarted', { planVersion: '1' }],
])('the document refuses %s', (_what, name, changes) => {
  const right = {
    runId: 'r',
    type: 'echo',
    planVersion: 1,
    status: 'pending',
    threadId: 't',
    createdAt: '2026-01-01T00:00:00.000Z',
  };
  expect(validatorOf(name).safeParse(right).success).toBe(true);
  expect(validatorOf(name).safeParse({ ...right, ...changes }).success).toBe(false);
});
