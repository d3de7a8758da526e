import { expect, test } from '@jest/globals';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import { CollectedLog } from '../../../packages/cairn/src/testing/world/collected-log.ts';
import { Installation } from '../../api/installation.ts';
import { commandsOf, requestOf } from '../commands.ts';
import { readDocument } from '../snippets.ts';

test('docs/observability.md names every metric with its type and labels, and shows how to get them', async () => {
  const installation = new Installation();
  const key = await installation.key('boss', { roles: ['admin'] });
  const [command = '', ...rest] = commandsOf('docs/observability.md');
  expect(rest).toEqual([]);
  const start = { type: 'echo', input: { text: 'x' } };
  await installation.post(key, start, { 'idempotency-key': 'k' });
  await installation.world.run();
  // Metrics that a quiet run with one echo does not produce.
  installation.metrics.effect({ tenantId: 'acme', capabilityId: 'c', outcome: 'executed' });
  installation.metrics.conflict({ tenantId: 'acme', leased: false });
  const answer = await installation.api.request(requestOf(command, key));
  expect(answer.status).toBe(200);
  const text = await answer.text();

  const rows = [...readDocument('docs/observability.md').matchAll(/^\| `(gwi_\w+)` \| (\w+) \| (.*?) \|/gm)];
  const documented = rows.map(([, name, type, labels = '']) => ({
    name,
    type,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label),
  }));
  const served = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => {
    const [, labels = ''] = new RegExp(`^${name}(?:_count)?\\{(.*)\\}`, 'm').exec(text) ?? [];
    return { name, type, labels: [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label) };
  });
  expect(documented).toEqual(served);
});

test('docs/observability.md names an existing parameter, and events that are logged', () => {
  const text = readDocument('docs/observability.md');
  expect(readDocument('functions/.env')).toContain('\nOTEL_EXPORTER_OTLP_ENDPOINT=\n');
  const sources = ['background-handlers.ts', 'telemetry/telemetry.ts', 'telemetry/configured.ts'].map(
    (file) => readDocument(`packages/cairn/src/platform/${file}`),
  );
  const events = [...text.matchAll(/`(telemetry_\w+)`/g)].map(([, event]) => event);
  expect(events.length).toBeGreaterThan(1);
  for (const event of events) expect(sources.join()).toContain(`'${event}'`);
});

test('docs/observability.md names the fields of the log lines that it shows', async () => {
  const installation = new Installation();
  const log = new CollectedLog(installation.world.clock);
  const { apiDeps } = installation;
  const api = createApi({ ...apiDeps, log });
  const authorization = `Bearer ${await installation.key('dev', { roles: ['operator'] })}`;
  const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': 'k' };
  const body = JSON.stringify({ type: 'echo', input: { text: 'x' } });
  for (let i = 0; i < 2; i += 1) await api.request('/v1/runs', { method: 'POST', headers, body });
  const [runId] = installation.world.db.runs.keys();
  await api.request(`/v1/runs/${runId}/cancel`, { method: 'POST', headers: { authorization } });
  await api.request('/v1/runs', {
    method: 'POST',
    headers: { ...headers, 'idempotency-key': 'driven' },
    body,
  });
  await installation.world.run(undefined, { ...installation.world.deps, log });

  const rows = [...readDocument('docs/observability.md').matchAll(/^\| `(\w+)` \| [^|]* \| (`.*`) \|$/gm)];
  const documented = rows.map(([, event, fields = '']) => [event, fields.replaceAll('`', '').split(', ')]);
  expect(documented.length).toBeGreaterThan(1);
  for (const [event, fields] of documented) {
    const line = log.lines.find((one) => one.event === event);
    expect([event, new Set(fields)]).toEqual([event, new Set(Object.keys(line?.fields ?? {}))]);
  }
});
