import { Refusal, targetOf } from '@cairn/client';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Stage } from '../cli/support/stage.ts';

/** Texts with a special meaning for a URL parser or Firestore. */
const special = fc.constantFrom(
  '',
  '.',
  '..',
  '...',
  '.%2e',
  '%2e',
  '%2E%2E',
  '__x__',
  '__',
  'a/b',
  '\\',
  '?',
  '#',
  ' ',
);
const id = fc.oneof(special, fc.string({ unit: 'binary' }), fc.string());

test('an id reaches its resource unchanged, or is refused', () => {
  fc.assert(
    fc.property(id, (text) => {
      const path = '/v1/schedules/{id}/pause';
      if (['', '.', '..'].includes(text) || !text.isWellFormed()) {
        expect(() => targetOf(path, { params: { id: text } })).toThrow(Refusal);
        return;
      }
      const { pathname } = new URL(targetOf(path, { params: { id: text } }), 'http://127.0.0.1');
      expect(pathname.split('/').map(decodeURIComponent)).toEqual(['', 'v1', 'schedules', text, 'pause']);
    }),
  );
});

test('the command line refuses such an id by name, and sends nothing', async () => {
  const stage = new Stage();
  for (const name of ['.', '..']) {
    const { code, err } = await stage.cairn(['schedules', 'show', name]);
    expect([code, err]).toEqual([
      expect.any(Number),
      expect.stringContaining(`'${name}' cannot be the id in a path`),
    ]);
    expect(code).not.toBe(0);
  }
});
