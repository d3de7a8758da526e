import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BULK_MODES, VERBS } from '../../../packages/console/src/pages/runs/bulk/plan.ts';
import {
  EFFECTS,
  partTitle,
  progressText,
  submitText,
} from '../../../packages/console/src/pages/runs/bulk/words.ts';

const numbersIn = (text: string) => (text.match(/\d+/g) ?? []).map(Number);
const mode = fc.constantFrom(...BULK_MODES);

/** Counts that can occur: what has an outcome was sent, and what was sent changes. */
const counts = fc
  .record({ done: fc.nat(3), failed: fc.nat(3), left: fc.nat(3), missed: fc.nat(3), unlooked: fc.nat(3) })
  .map(({ done, failed, left, missed, unlooked }) => {
    const hit = done + failed + left;
    return { done, failed, hit, looked: hit + missed, targets: hit + missed + unlooked };
  });

test('the sentences of a bulk change give exact numbers, in the right number of a noun', () => {
  fc.assert(
    fc.property(mode, counts, (of, seen) => {
      const { done, failed, hit, targets, looked } = seen;
      const whole = { ...seen, targets: looked };
      const said = {
        looking: progressText(of, 'looking', seen),
        ready: progressText(of, 'ready', whole),
        sending: progressText(of, 'sending', whole),
        over: progressText(of, 'over', whole),
      };
      const left = hit - done - failed;
      const missed = looked - hit;
      expect(numbersIn(said.looking)).toEqual([looked, targets]);
      expect(numbersIn(said.ready)).toEqual(looked === 0 ? [] : [hit, ...(missed > 0 ? [missed] : [])]);
      expect(numbersIn(said.sending)).toEqual([done + failed, hit]);
      expect(numbersIn(said.over)).toEqual([done, hit, ...[failed, left].filter((count) => count > 0)]);
      for (const text of Object.values(said)) {
        expect(text).not.toMatch(/\b1 runs\b|\b(?!1\b)\d+ run\b|undefined/);
        expect(text).toMatch(/^[A-Z0-9].*\.$/);
      }
    }),
  );
});

test('a bulk change says what becomes of the runs, and its button names the act and the number', () => {
  fc.assert(
    fc.property(mode, fc.nat(12), fc.nat(12), (of, hit, left) => {
      expect(EFFECTS[of]).toMatch(/^[A-Z].*\.$/);
      expect(numbersIn(partTitle(of, true, hit))).toEqual([hit]);
      expect(partTitle(of, false, hit)).toMatch(
        /^Will not be (cancelled|resumed|replayed|approved) \(\d+\)$/,
      );
      const text = submitText(VERBS[of], { hit, left });
      if (left === 0) expect(text).toBe(`${VERBS[of]} ${hit} ${hit === 1 ? 'run' : 'runs'}`);
      else expect(numbersIn(text)).toEqual([left]);
    }),
  );
});
