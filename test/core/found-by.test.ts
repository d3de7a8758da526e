import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  apiKey,
  githubKey,
  keyAsSent,
  pubsubKey,
  schedulerKey,
  slackKey,
} from '../../packages/cairn/src/core/encoding/idempotency-keys.ts';
import {
  foundAs,
  foundBy,
  MAX_SEARCHED_CHARS,
  nameIn,
} from '../../packages/cairn/src/core/search/found-by.ts';

const RUN = {
  trigger: { source: 'webhook', webhookEventId: 'd-1' },
  idempotencyKey: 'github:d-1',
  threadId: 'th',
  traceId: 'a'.repeat(32),
  prUrl: 'https://github.com/acme/app/pull/7',
  tags: ['customer:42'],
} as const;

describe('the names of a run', () => {
  test('are complete and unique', () => {
    expect(foundBy(RUN)).toEqual(['d-1', 'github:d-1', 'th', RUN.traceId, RUN.prUrl, 'customer:42']);
    const { prUrl: _, idempotencyKey: _key, tags: _tags, ...bare } = RUN;
    expect(foundBy({ ...bare, trigger: { source: 'api' } })).toEqual(['th', RUN.traceId]);
  });

  test.each([
    ['d-1', 'delivery'],
    ['github:d-1', 'idempotency_key'],
    ['th', 'thread'],
    [RUN.traceId, 'trace'],
    [RUN.prUrl, 'pull_request'],
    ['customer:42', 'tag'],
    ['d-2', undefined],
  ])('"%s" is its %s', (name, as) => {
    expect(foundAs(RUN, name)).toBe(as);
  });

  test('exclude names too long for an index', () => {
    const long = 'x'.repeat(MAX_SEARCHED_CHARS + 1);
    expect(foundBy({ ...RUN, prUrl: long })).not.toContain(long);
    expect(foundBy({ ...RUN, prUrl: long.slice(1) })).toContain(long.slice(1));
  });

  test('are labelled by kind', () => {
    fc.assert(
      fc.property(fc.constantFrom('th', 'd-1'), fc.string(), (threadId, prUrl) => {
        const run = { ...RUN, threadId, prUrl };
        for (const name of foundBy(run)) expect(foundAs(run, name)).toBeDefined();
      }),
    );
  });
});

describe('a name given by a user', () => {
  test.each([
    ['  th\n', 'th'],
    ['https://github.com/acme/app/pull/7/files#diff', 'https://github.com/acme/app/pull/7'],
    ['https://github.com/acme/app/pull/7?w=1', 'https://github.com/acme/app/pull/7'],
    ['https://github.com/acme/app/pull/77', 'https://github.com/acme/app/pull/77'],
    ['https://github.com/acme/app/pull/7x', 'https://github.com/acme/app/pull/7x'],
    ['https://github.com/acme/app/issues/7', 'https://github.com/acme/app/issues/7'],
  ])('"%s" stands for "%s"', (text, name) => {
    expect(nameIn(text)).toBe(name);
  });
});

describe('a key as it was sent', () => {
  const visible = fc.stringMatching(/^[\x21-\x7e]{1,40}$/);
  const plain = fc.stringMatching(/^[A-Za-z0-9-]{1,40}$/);

  test('is the part known to its sender', () => {
    fc.assert(
      fc.property(plain, visible, (id, key) => {
        expect(keyAsSent(apiKey(`c.${id}`, key))).toBe(key);
        expect(keyAsSent(slackKey(id, key))).toBe(key);
        expect(keyAsSent(githubKey(id))).toBe(id);
        // Keys of further listening workflows have their type as a suffix.
        expect(keyAsSent(`${githubKey(id)}:${id}`)).toBe(id);
        expect(keyAsSent(pubsubKey(`google.com:${id}`, id))).toBe(id);
      }),
    );
  });

  test('of a schedule is its id with the slot; of an unknown source, the key itself', () => {
    expect(keyAsSent(schedulerKey('late', Date.UTC(2026, 0, 2, 3)))).toBe('late:2026-01-02T03:00:00Z');
    expect(keyAsSent('k')).toBe('k');
  });
});
