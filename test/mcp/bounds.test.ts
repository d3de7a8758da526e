import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { toolResult } from '../../packages/mcp/src/answer.ts';
import { bounded, clipped, MAX_SAID_CHARS } from '../../packages/mcp/src/bounded.ts';
import { argumentProblem, keyOf, seal, stateProblem, TOKEN_LIFE_MS } from '../../packages/mcp/src/seal.ts';

describe('an answer', () => {
  test('that fits is complete', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        fc.pre(JSON.stringify(value).length < 2_000);
        expect(bounded(value)).toEqual({ value, isCut: false });
      }),
    );
  });

  test('never exceeds its limit, and says that it was truncated', () => {
    const large = fc.array(fc.record({ text: fc.string({ maxLength: 500 }), more: fc.jsonValue() }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(large, fc.integer({ min: 50, max: 3_000 }), (value, most) => {
        const cut = bounded({ value }, most);
        expect(JSON.stringify(cut.value).length).toBeLessThanOrEqual(most);
        expect(cut.isCut).toBe(JSON.stringify(cut.value) !== JSON.stringify({ value }));
      }),
      { numRuns: 200 },
    );
  });
});

test('is never truncated within a character', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', '界', '📦')),
      fc.integer({ min: 40, max: 400 }),
      (parts, most) => {
        const text = parts.join('').repeat(20);
        expect(clipped(text, most).isWellFormed()).toBe(true);
        expect(clipped(text, most).length).toBeLessThanOrEqual(most);
        const { value } = bounded({ [text]: [text] }, most);
        expect(JSON.stringify(value)).not.toMatch(/\\ud[89a-f]/);
      },
    ),
  );
});

test('has a bounded text too, and says that it was truncated', () => {
  const { content, structuredContent } = toolResult({ text: 'x'.repeat(1_000_000), data: {} });
  const [said] = content as { text: string }[];
  const text = said?.text ?? '';
  expect(text.length).toBeLessThan(MAX_SAID_CHARS + 100);
  expect([structuredContent, text.endsWith('Long parts were cut.')]).toEqual([{ isCut: true }, true]);
});

describe('a token', () => {
  const sealing = { secret: 'secret', now: 1_000 };
  const json = fc.jsonValue({ maxDepth: 2 });

  test('is valid for its arguments until it expires', () => {
    fc.assert(
      fc.property(json, json, fc.integer({ min: 0, max: TOKEN_LIFE_MS - 1 }), (args, state, laterMs) => {
        const seen = { action: 'cancel_run', args, state };
        const { token, expiresAt } = seal(seen, sealing);
        const later = { ...sealing, now: sealing.now + laterMs };
        expect(argumentProblem(token, seen, later)).toBeUndefined();
        expect(argumentProblem(token, seen, { ...sealing, now: expiresAt })).toBe('expired');
        expect(stateProblem(token, state, 'secret')).toBeUndefined();
      }),
    );
  });

  test('is invalid for other arguments, and when any of its characters is changed', () => {
    fc.assert(
      fc.property(json, json, fc.nat(), (args, other, at) => {
        fc.pre(JSON.stringify(args) !== JSON.stringify(other));
        fc.pre(typeof args !== 'object' || typeof other !== 'object');
        const seen = { action: 'cancel_run', args, state: args };
        const { token } = seal(seen, sealing);
        expect(argumentProblem(token, { ...seen, args: other }, sealing)).toBe('other_arguments');
        expect(argumentProblem(token, { ...seen, action: 'decide' }, sealing)).toBe('other_arguments');
        expect(argumentProblem(token, seen, { ...sealing, secret: 'another' })).toBe('other_arguments');
        expect(stateProblem(token, other, 'secret')).toBe('other_state');
        const index = at % token.length;
        const changed = `${token.slice(0, index)}${token[index] === '0' ? '1' : '0'}${token.slice(index + 1)}`;
        const problems = [argumentProblem(changed, seen, sealing), stateProblem(changed, args, 'secret')];
        expect(problems.some((problem) => problem !== undefined)).toBe(true);
      }),
    );
  });

  test('has an idempotency key of its own', () => {
    const keys = Array.from({ length: 50 }, () =>
      keyOf(seal({ action: 'a', args: 1, state: 1 }, sealing).token),
    );
    expect(new Set(keys).size).toBe(50);
    for (const key of keys) expect(key).toMatch(/^mcp-[0-9a-f]{24}$/);
  });
});
