import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readDocument } from '../snippets.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FILES = readdirSync(join(ROOT, 'docs/alerts'));
const runbook = readDocument('docs/runbook.md');

interface Condition {
  readonly displayName: string;
  readonly conditionThreshold?: { readonly filter: string };
  readonly conditionAbsent?: { readonly filter: string };
  readonly conditionMatchedLog?: { readonly filter: string };
}

interface Policy {
  readonly displayName: string;
  readonly combiner: string;
  readonly severity: string;
  readonly conditions: readonly Condition[];
  readonly documentation: { readonly content: string };
  readonly alertStrategy: { readonly notificationRateLimit?: unknown };
}

const policies = FILES.map(
  (file) => [file, JSON.parse(readDocument(`docs/alerts/${file}`)) as Policy] as const,
);
const filtersOf = ({ conditions }: Policy) =>
  conditions.map(
    ({ conditionThreshold, conditionAbsent, conditionMatchedLog }) =>
      (conditionThreshold ?? conditionAbsent ?? conditionMatchedLog)?.filter ?? '',
  );
const filters = policies.flatMap(([, policy]) => filtersOf(policy));

/** Names of the deployed services, which are lower-case in Cloud Run. */
const [, list = ''] = /export const \{([^}]+)\} =/.exec(readDocument('functions/src/index.ts')) ?? [];
const functions = [...list.matchAll(/(\w+),/g)].map(([, name = '']) =>
  name === 'pubsub' ? 'pubsub-x' : name,
);

describe.each(policies)('docs/alerts/%s', (file, policy) => {
  test('is a policy that gcloud accepts, and links to a section of the runbook, which contains it too', () => {
    expect(policy).toMatchObject({
      displayName: expect.stringMatching(/^Cairn: /),
      combiner: 'OR',
      severity: expect.stringMatching(/^(?:CRITICAL|ERROR|WARNING)$/),
    });
    for (const filter of filtersOf(policy)) {
      expect(filter.length).toBeGreaterThan(20);
      expect((filter.match(/"/g) ?? []).length % 2).toBe(0);
    }
    const [, anchor = ''] = /docs\/runbook\.md#([a-z-]+)$/.exec(policy.documentation.content) ?? [];
    const sections = [...runbook.matchAll(/^## (.+)$/gm)].map(([, title = '']) =>
      title.toLowerCase().replaceAll(' ', '-'),
    );
    expect(sections).toContain(anchor);
    expect(runbook).toContain(`](alerts/${file})`);
    // Cloud Monitoring requires it for policies on log entries.
    const isOnLog = policy.conditions.some((one) => one.conditionMatchedLog);
    expect(policy.alertStrategy.notificationRateLimit !== undefined).toBe(isOnLog);
  });
});

test('alerts use services, queues and jobs that a deployment creates, with or without a prefix', () => {
  const services = filters.flatMap((filter) => patternsIn(filter, 'service_name'));
  const queues = filters.flatMap((filter) => patternsIn(filter, 'queue_id'));
  const jobs = filters.flatMap((filter) => patternsIn(filter, 'job_id'));
  expect([services.length, queues.length, jobs.length].every((count) => count > 0)).toBe(true);
  const known = functions.flatMap((name) => [name, `cairn-${name}`]);
  for (const name of known)
    expect([name, services.some((one) => one.test(name.toLowerCase()))]).toEqual([name, true]);
  for (const name of ['drive', 'driveAlone', 'kit-calls-driveAlone'])
    expect(queues.every((one) => one.test(name))).toBe(true);
  for (const name of ['recoverRuns', 'cairn-fireSchedules', 'checkRuns', 'deleteExpired'])
    expect(jobs.every((one) => one.test(`firebase-schedule-${name}-us-central1`))).toBe(true);
  // Other services of the project do not match.
  expect(services.some((one) => one.test('shop'))).toBe(false);
});

test('alerts use entries that the code logs as errors', () => {
  const [, names = ''] = /jsonPayload\.event=\(([^)]*)\)/.exec(filters.join('\n')) ?? [];
  const events = [...names.matchAll(/"(\w+)"/g)].map(([, name = '']) => name);
  expect(events.length).toBeGreaterThan(3);
  const sources = readdirSync(join(ROOT, 'packages/cairn/src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readDocument(`packages/cairn/src/${name}`))
    .join('\n');
  for (const event of events) expect(sources).toContain(`log.error('${event}'`);
});

test('the runbook covers failures of the services below Cairn', () => {
  for (const title of [
    'Quota exhausted',
    'Queue stopped',
    'Scheduler down',
    'Region lost',
    'Bill rising',
    'Stuck deploy',
  ])
    expect(runbook).toContain(`\n## ${title}\n`);
  expect(runbook).toContain('gcloud billing budgets create');
});

/** Regular expressions that a filter compares with a label. */
function patternsIn(filter: string, label: string): RegExp[] {
  const found = filter.matchAll(
    new RegExp(`${label}=(?:~|monitoring\\.regex\\.full_match\\()"([^"]+)"`, 'g'),
  );
  return [...found].map(
    ([all, pattern = '']) => new RegExp(all.includes('full_match') ? `^(?:${pattern})$` : pattern),
  );
}
