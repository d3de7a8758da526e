import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  apiKey,
  encodeKey,
  type GithubEvent,
  githubKey,
  githubSecondaryKey,
  MAX_KEY_PART,
  pubsubKey,
  readApiIdempotencyHeader,
  schedulerKey,
  slackKey,
} from '../../../packages/cairn/src/core/encoding/idempotency-keys.ts';
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';

const SLOT = Date.UTC(2024, 11, 19, 13, 37, 42, 123);
const visible = fc.string({ unit: fc.constantFrom(...'ab:"\\%._~/!#'), minLength: 1, maxLength: 12 });
const plain = visible.filter((text) => !text.includes(':'));

function fieldAtFault(make: () => unknown): string | undefined {
  try {
    make();
  } catch (error) {
    if (error instanceof CairnError && error.code === 'INVALID_INPUT') return error.field;
    throw error;
  }
  throw new Error('the key was accepted');
}

describe('the key of each source', () => {
  test('has the documented form', () => {
    const delivery = '12345678-1234-1234-1234-123456789012';
    expect(githubKey(delivery)).toBe(`github:${delivery}`);
    expect(apiKey('c.cli-abc123', 'req-550e8400')).toBe('api:c.cli-abc123:req-550e8400');
    expect(slackKey('T12345678', '1234567890.123456')).toBe('slack:T12345678:1234567890.123456');
    expect(schedulerKey('daily-cleanup', SLOT)).toBe('scheduler:daily-cleanup:2024-12-19T13:37:00Z');
    expect(pubsubKey('projects/p/subscriptions/s', '42')).toBe('pubsub:projects/p/subscriptions/s:42');
  });

  test('two times have the same key exactly if they are in the same slot', () => {
    const ms = fc.integer({ min: 0, max: 4e12 });
    const minute = (time: number) => Math.floor(time / 60_000);
    fc.assert(
      fc.property(ms, fc.integer({ min: -200_000, max: 200_000 }), (time, distance) => {
        const other = Math.max(0, time + distance);
        const same = schedulerKey('s', time) === schedulerKey('s', other);
        expect(same).toBe(minute(time) === minute(other));
      }),
    );
  });

  test('different parts never give the same key, within a source and across sources', () => {
    const parts = fc.oneof(
      fc.tuple(
        fc.constant('api'),
        plain.map((id) => `c.${id}`),
        visible,
      ),
      fc.tuple(fc.constant('slack'), plain, visible),
      fc.tuple(fc.constant('pubsub'), visible, plain),
      fc.tuple(fc.constant('github'), plain, fc.constant('')),
    );
    const keyOf = ([source, first, second]: [string, string, string]): string => {
      if (source === 'api') return apiKey(first, second);
      if (source === 'slack') return slackKey(first, second);
      return source === 'pubsub' ? pubsubKey(first, second) : githubKey(first);
    };
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        expect(keyOf(a) === keyOf(b)).toBe(a.join('\n') === b.join('\n'));
      }),
      { numRuns: 1_000 },
    );
  });

  test.each<[string, string, () => unknown]>([
    ['an empty delivery id', 'X-GitHub-Delivery', () => githubKey('')],
    ['a delivery id with a colon', 'X-GitHub-Delivery', () => githubKey('a:b')],
    ['a delivery id with a space', 'X-GitHub-Delivery', () => githubKey('a b')],
    ['a principal without its kind', 'principal', () => apiKey('client', 'k')],
    ['a principal with a colon', 'principal', () => apiKey('c.a:b', 'k')],
    ['an empty API key', 'idempotency key', () => apiKey('c.a', '')],
    ['an API key with a line break', 'idempotency key', () => apiKey('c.a', 'k\n')],
    ['an API key beyond ASCII', 'idempotency key', () => apiKey('c.a', 'klü')],
    ['an API key that is too long', 'idempotency key', () => apiKey('c.a', 'k'.repeat(MAX_KEY_PART + 1))],
    ['a team id with a colon', 'team_id', () => slackKey('T:1', '1')],
    ['no trigger id', 'trigger_id', () => slackKey('T1', '')],
    ['a schedule id with a colon', 'scheduleId', () => schedulerKey('a:b', 0)],
    ['a slot that is no time', 'slot', () => schedulerKey('a', Number.NaN)],
    ['a slot after the year 9999', 'slot', () => schedulerKey('a', Date.UTC(10_000, 0))],
    ['a message id with a colon', 'messageId', () => pubsubKey('s', '1:2')],
    ['no subscription', 'subscription', () => pubsubKey('', '1')],
  ])('%s is refused, naming the field', (_what, field, make) => {
    expect(fieldAtFault(make)).toBe(field);
  });
});

describe('the secondary key of GitHub', () => {
  const event: GithubEvent = {
    tenantId: 't1',
    repo: 'acme/shop',
    pullRequest: 7,
    event: 'pull_request',
    action: 'synchronize',
    payload: { action: 'synchronize', before: 'aaa', after: 'bbb', pull_request: { number: 7 } },
  };

  test('is the same for the same content delivered by another hook', () => {
    const { payload } = event;
    const viaApp = {
      ...payload,
      installation: { id: 1 },
      organization: { login: 'acme' },
      enterprise: { id: 2 },
      hook: { id: 3 },
      hook_id: 3,
    };
    expect(githubSecondaryKey({ ...event, payload: viaApp })).toBe(githubSecondaryKey(event));
  });

  test.each<[string, Partial<GithubEvent>]>([
    ['push', { payload: { ...event.payload, before: 'bbb', after: 'ccc' } }],
    ['action', { action: 'opened' }],
    ['event', { event: 'pull_request_review' }],
    ['pull request', { pullRequest: 8 }],
    ['repository', { repo: 'acme/other' }],
    ['tenant', { tenantId: 't2' }],
    ['subject, none', { repo: undefined, pullRequest: undefined }],
    ['action, none', { action: undefined }],
  ])('differs for another %s', (_what, change) => {
    expect(githubSecondaryKey({ ...event, ...change })).not.toBe(githubSecondaryKey(event));
  });

  const sender = { id: 9 };
  test.each<[string, GithubEvent['payload'], GithubEvent['payload']]>([
    ['installation', { installation: { id: 1 } }, { installation: { id: 2 } }],
    [
      'installation',
      { installation: { id: 1, updated_at: '1' } },
      { installation: { id: 1, updated_at: '2' } },
    ],
    ['installation_target', { installation: { id: 1 } }, { installation: { id: 2 } }],
    ['org_block', { organization: { id: 1 } }, { organization: { id: 2 } }],
    ['meta', { hook_id: 1, repository: {} }, { hook_id: 2, repository: {} }],
    ['custom_property', { enterprise: { id: 1 } }, { enterprise: { id: 2 } }],
  ])('differs for two subjects of the event %s: %j, %j', (name, one, other) => {
    const keyOf = (payload: GithubEvent['payload']) =>
      githubSecondaryKey({ tenantId: 't1', event: name, payload: { ...payload, sender } });
    expect(keyOf(one)).not.toBe(keyOf(other));
  });

  test('is the same for an event of an organization, delivered by its hook and by an app', () => {
    const keyOf = (payload: GithubEvent['payload']) =>
      githubSecondaryKey({ tenantId: 't1', event: 'org_block', payload: { ...payload, sender } });
    const organization = { id: 1 };
    const viaApp = { organization, installation: { id: 1 }, enterprise: { id: 2 } };
    expect(keyOf(viaApp)).toBe(keyOf({ organization }));
  });

  test('can never be the key of a delivery', () => {
    const secondary = githubSecondaryKey(event);
    expect(secondary).toMatch(/^github-content:t1:acme\/shop:7:pull_request:synchronize:[0-9a-f]{64}$/);
    expect(secondary.startsWith('github:')).toBe(false);
  });

  test.each([0, -1, 1.5, Number.NaN])('pull request %p is refused', (pullRequest) => {
    expect(fieldAtFault(() => githubSecondaryKey({ ...event, pullRequest }))).toBe('pullRequest');
  });
});

describe('a key as a document id', () => {
  test.each([
    ['github:12-34', 'github:12-34'],
    ['api:c.a:x/y', 'api:c.a:x%2Fy'],
    ['100%', '100%25'],
    ['.', '%2E'],
    ['..', '%2E%2E'],
    ['...', '...'],
    ['__a__', '%5F_a__'],
    ['____', '%5F___'],
    ['__a', '__a'],
    ['ü', '%C3%BC'],
  ])('%p becomes %p', (key, id) => {
    expect(encodeKey(key)).toBe(id);
  });

  test('different keys become different ids, each one that Firestore accepts', () => {
    const awkward = fc.string({
      unit: fc.constantFrom('.', '_', '%', '/', '2', '5', 'E', 'F', ':', 'a'),
      maxLength: 8,
    });
    const keys = fc
      .oneof(awkward, fc.string({ unit: 'grapheme', maxLength: 20 }))
      .filter((key) => key !== '');
    fc.assert(
      fc.property(keys, keys, (a, b) => {
        expect(encodeKey(a) === encodeKey(b)).toBe(a === b);
        expect(encodeKey(a)).toMatch(/^(?!\.{1,2}$)(?!__.*__$)[!-.0-~]+$/);
        expect(decodeURIComponent(encodeKey(a))).toBe(a);
      }),
      { numRuns: 1_000 },
    );
  });

  test.each(['', 'a\ud800', 'k'.repeat(1_501), '/'.repeat(501)])('%p is refused', (key) => {
    expect(fieldAtFault(() => encodeKey(key))).toBe('idempotency key');
  });

  test('the longest id is accepted', () => {
    expect(encodeKey('/'.repeat(500))).toHaveLength(1_500);
  });
});

describe('the idempotency header', () => {
  const read = (headers: Record<string, string>) => readApiIdempotencyHeader((name) => headers[name]);

  test.each<[string, Record<string, string>, string | undefined]>([
    ['none', {}, undefined],
    [
      'X-Idempotency-Key before the others',
      { 'X-Request-ID': 'r', 'Idempotency-Key': 'i', 'X-Idempotency-Key': 'x' },
      'x',
    ],
    ['Idempotency-Key before X-Request-ID', { 'X-Request-ID': 'r', 'Idempotency-Key': 'i' }, 'i'],
    ['X-Request-ID', { 'X-Request-ID': 'r' }, 'r'],
    ['the quoted form', { 'Idempotency-Key': '"8e03978e"' }, '8e03978e'],
    ['quoted with escapes', { 'Idempotency-Key': '"a\\"b\\\\c"' }, 'a"b\\c'],
    ['a quote inside the bare form', { 'Idempotency-Key': 'a"b' }, 'a"b'],
    ['spaces around', { 'Idempotency-Key': '  k  ' }, 'k'],
    ['the longest', { 'Idempotency-Key': 'k'.repeat(255) }, 'k'.repeat(255)],
  ])('%s', (_what, headers, key) => {
    expect(read(headers)).toBe(key);
  });

  test.each(['', '   ', '""', '"a', '"a"b', '"a";p=1', '"a\\b"', '"a b"', 'a b', 'ü', 'k'.repeat(256), '"'])(
    '%p is refused, naming the header, and no other header is used instead',
    (value) => {
      expect(fieldAtFault(() => read({ 'Idempotency-Key': value, 'X-Request-ID': 'r' }))).toBe(
        'Idempotency-Key',
      );
    },
  );

  test('bare and quoted keys are equal', () => {
    fc.assert(
      fc.property(
        visible.filter((key) => !key.startsWith('"')),
        (key) => {
          const quoted = `"${key.replace(/["\\]/g, '\\$&')}"`;
          expect(read({ 'Idempotency-Key': quoted })).toBe(read({ 'Idempotency-Key': key }));
        },
      ),
    );
  });
});
