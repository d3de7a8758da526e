import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { lineOf, MAX_FIELDS_BYTES, MAX_MESSAGE_CHARS } from '../../../packages/cairn/src/core/logs/line.ts';
import { maskOf, secretTexts } from '../../../packages/cairn/src/core/secrets/mask.ts';

const by = { step: 'charge', revision: 1, attempt: 1 };
const logged = (message: unknown, fields?: Record<string, unknown>) =>
  lineOf(by, { at: 5, level: 'info', message, fields });

describe('a line', () => {
  test('has its step, time and content', () => {
    expect(logged('charged', { amount: 7, note: null })).toEqual({
      kind: 'log',
      at: 5,
      level: 'info',
      step: 'charge',
      revision: 1,
      attempt: 1,
      message: 'charged',
      fields: { amount: 7, note: null },
    });
    expect(logged('charged', {})).not.toHaveProperty('fields');
  });

  test('has errors as stacks, and non-JSON numbers as text', () => {
    const error = new Error('no funds');
    expect(logged('x', { error, cents: 10n, at: new Date(0) }).fields).toEqual({
      error: error.stack,
      cents: '10',
      at: '1970-01-01T00:00:00.000Z',
    });
  });

  test('that is too long is truncated and marked', () => {
    const { message, cut } = logged('x'.repeat(MAX_MESSAGE_CHARS + 1));
    expect([message.length, message.endsWith('…'), cut]).toEqual([MAX_MESSAGE_CHARS, true, true]);
    expect(logged('x'.repeat(MAX_MESSAGE_CHARS))).not.toHaveProperty('cut');
  });

  test('has truncated texts if its fields are too large, and no fields if that is not enough', () => {
    const large = logged('x', { body: 'y'.repeat(MAX_FIELDS_BYTES), id: 7 });
    expect(large).toMatchObject({ cut: true, fields: { id: 7, body: expect.stringMatching(/^y{199}…$/) } });
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`member${n}`, n]));
    expect(logged('x', many)).toMatchObject({ cut: true });
    expect(logged('x', many)).not.toHaveProperty('fields');
  });

  test('keeps its message if JSON cannot represent its fields', () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    expect(logged('x', loop)).toMatchObject({ message: 'x', cut: true });
  });

  test('is JSON within its limits for any logged value', () => {
    const fields = fc.dictionary(
      fc.string({ unit: 'binary' }),
      fc.anything({ withBigInt: true, withDate: true }),
    );
    fc.assert(
      fc.property(fc.anything(), fields, (message, given) => {
        const line = logged(message, given);
        expect(JSON.parse(JSON.stringify(line))).toEqual(line);
        expect(line.message.length).toBeLessThanOrEqual(MAX_MESSAGE_CHARS);
        expect(Buffer.byteLength(JSON.stringify(line.fields ?? {}))).toBeLessThanOrEqual(MAX_FIELDS_BYTES);
      }),
    );
  });
});

describe('secret values of the input', () => {
  const input = {
    token: 'tok_123456',
    card: { number: 4_242_424_242, pin: '12' },
    users: [{ key: 'abcdefgh' }],
  };
  const secrets = secretTexts(input, ['token', 'card', 'users.*.key', 'absent.too']);

  test('are found at the paths, including nested values, except short ones', () => {
    expect(secrets).toEqual(['tok_123456', '4242424242', 'abcdefgh']);
  });

  test('are removed from messages and fields, at any depth', () => {
    const mask = maskOf(secrets);
    const fields = { header: 'Bearer tok_123456', deep: [{ number: 4_242_424_242 }], fine: 42 };
    expect(lineOf(by, { at: 5, level: 'info', message: 'with tok_123456!', fields, mask })).toMatchObject({
      message: 'with [redacted]!',
      fields: { header: 'Bearer [redacted]', deep: [{ number: '[redacted]' }], fine: 42 },
    });
  });

  test('appear in no line', () => {
    const secret = fc.string({ minLength: 8, maxLength: 40 }).filter((text) => !'[redacted]'.includes(text));
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), (token, before, after) => {
        const text = `${before}${token}${after}`;
        const mask = maskOf(secretTexts({ token }, ['token']));
        const line = lineOf(by, {
          at: 5,
          level: 'info',
          message: text,
          fields: { text, in: { text } },
          mask,
        });
        const shown = text.replaceAll(token, '[redacted]');
        expect([line.message, line.fields]).toEqual([shown, { text: shown, in: { text: shown } }]);
      }),
    );
  });

  test('cost nothing without secret paths', () => {
    expect(maskOf(secretTexts(input, []))).toBeUndefined();
  });
});
