import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BULK_MODES, VERBS } from '../../../packages/console/src/pages/runs/bulk/plan.ts';
import {
  EFFECTS,
  partTitle,
  progressText,
  sentTitle,
  submitText,
} from '../../../packages/console/src/pages/runs/bulk/words.ts';

const numbersIn = (text: string) => (text.match(/\d+/g) ?? []).map(Number);
const mode = fc.constantFrom(...BULK_MODES);

/** Counts that can occur: only included runs are sent, and only sent runs have an outcome. */
const counts = fc
  .record({ done: fc.nat(3), failed: fc.nat(3), left: fc.nat(3), excluded: fc.nat(3), unchecked: fc.nat(3) })
  .map(({ done, failed, left, excluded, unchecked }) => {
    const included = done + failed + left;
    return { done, failed, included, checked: included + excluded, targets: included + excluded + unchecked };
  });

test('the sentences of a bulk change have exact numbers with correct plurals', () => {
  fc.assert(
    fc.property(mode, counts, (of, seen) => {
      const { done, failed, included, targets, checked } = seen;
      const whole = { ...seen, targets: checked };
      const wordsOf = {
        checking: progressText(of, 'checking', seen),
        ready: progressText(of, 'ready', whole),
        sending: progressText(of, 'sending', whole),
        over: progressText(of, 'over', whole),
      };
      const left = included - done - failed;
      const excluded = checked - included;
      expect(numbersIn(wordsOf.checking)).toEqual([checked, targets]);
      expect(numbersIn(wordsOf.ready)).toEqual(
        checked === 0 ? [] : [included, ...(excluded > 0 ? [excluded] : [])],
      );
      expect(numbersIn(wordsOf.sending)).toEqual([done + failed, included]);
      expect(numbersIn(wordsOf.over)).toEqual([
        done,
        included,
        ...[failed, left].filter((count) => count > 0),
      ]);
      for (const text of Object.values(wordsOf)) {
        expect(text).not.toMatch(/\b1 runs\b|\b(?!1\b)\d+ run\b|undefined/);
        expect(text).toMatch(/^[A-Z0-9].*\.$/);
      }
    }),
  );
});

test('a bulk change says what happens to the runs, and its button names the act and the number', () => {
  fc.assert(
    fc.property(mode, fc.nat(12), fc.nat(12), (of, included, left) => {
      expect(EFFECTS[of]).toMatch(/^[A-Z].*\.$/);
      expect(numbersIn(partTitle(of, true, included))).toEqual([included]);
      expect(numbersIn(sentTitle(included))).toEqual([included]);
      expect(partTitle(of, false, included)).toMatch(
        /^Will not be (cancelled|resumed|replayed|approved) \(\d+\)$/,
      );
      const text = submitText(VERBS[of], { included, left });
      if (left === 0) expect(text).toBe(`${VERBS[of]} ${included} ${included === 1 ? 'run' : 'runs'}`);
      // They may never have been sent: not "again".
      else expect(text).toBe(left === 1 ? 'Send the other run' : `Send the other ${left} runs`);
    }),
  );
});
