import { expect, test } from '@jest/globals';
import { Installation } from '../api/installation.ts';
import { commandsOf, requestOf } from './commands.ts';
import { readDocument } from './snippets.ts';

test('docs/observability.md names every metric with its type and labels, and shows how to get them', async () => {
  const installation = new Installation();
  const key = await installation.key('boss', { roles: ['admin'] });
  const [command = '', ...rest] = commandsOf('docs/observability.md');
  expect(rest).toEqual([]);
  const start = { type: 'echo', input: { text: 'x' } };
  await installation.post(key, start, { 'idempotency-key': 'k' });
  await installation.world.run();
  const answer = await installation.api.request(requestOf(command, key));
  expect(answer.status).toBe(200);
  const text = await answer.text();

  const rows = [...readDocument('docs/observability.md').matchAll(/^\| `(gwi_\w+)` \| (\w+) \| (.*?) \|/gm)];
  const told = rows.map(([, name, type, labels = '']) => ({
    name,
    type,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label),
  }));
  const served = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => {
    const [, labels = ''] = new RegExp(`^${name}(?:_count)?\\{(.*)\\}`, 'm').exec(text) ?? [];
    return { name, type, labels: [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label) };
  });
  expect(told).toEqual(served);
});

test('docs/observability.md names a parameter that there is, and events that are logged', () => {
  const text = readDocument('docs/observability.md');
  expect(readDocument('functions/.env')).toContain('\nOTEL_EXPORTER_OTLP_ENDPOINT=\n');
  const sources = ['doors.ts', 'telemetry/telemetry.ts'].map((file) =>
    readDocument(`functions/src/platform/${file}`),
  );
  const events = [...text.matchAll(/`(telemetry_\w+)`/g)].map(([, event]) => event);
  expect(events.length).toBeGreaterThan(1);
  for (const event of events) expect(sources.join()).toContain(`'${event}'`);
});
