import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { StepDefinition } from '../../../packages/cairn/src/engine/define/steps.ts';
import {
  type OpenOperation,
  OpenOperations,
} from '../../../packages/cairn/src/engine/drive/flows/open-operations.ts';
import type { Outcome } from '../../../packages/cairn/src/engine/recording/output.ts';

const body = { kind: 'step', body: () => undefined };
const child = (onParentEnd: 'wait' | 'cancel') => ({ kind: 'child', onParentEnd });
const steps = [body, child('wait'), child('cancel'), { kind: 'sleep' }] as unknown as StepDefinition[];
const skipped: Outcome = { kind: 'skipped' } as Outcome;

const phase = fc.oneof(
  fc.constantFrom({ at: 'queued' } as const, { at: 'begun' } as const, { at: 'left' } as const),
  fc.record({
    at: fc.constant('recorded' as const),
    seq: fc.nat(),
    outcome: fc.constantFrom(undefined, skipped),
  }),
);
const change = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd', 'e'), phase, isRemoved: fc.boolean() });

function operation(name: string, step: StepDefinition): OpenOperation {
  const unit = { step, item: { key: name, index: 0, value: undefined } };
  return { name, request: '', unit, phase: { at: 'begun' }, resolve: () => {}, reject: () => {} };
}

test('an operation is found by its phase, and by no other', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...steps), { minLength: 5, maxLength: 5 }),
      fc.array(change),
      (of, all) => {
        const operations = new OpenOperations();
        const open = new Set(
          ['a', 'b', 'c', 'd', 'e'].map((name, i) => operation(name, of[i] as StepDefinition)),
        );
        for (const one of open) operations.add(one);
        for (const { name, phase: next, isRemoved } of all) {
          const one = operations.get(name);
          if (one && isRemoved) operations.remove(one);
          else if (one) operations.move(one, next);
          if (one && isRemoved) open.delete(one);
          const inPhase = (...at: string[]) =>
            new Set([...open].filter((other) => at.includes(other.phase.at)));
          const live = [...inPhase('queued', 'begun')];
          expect(operations.size).toBe(open.size);
          expect(operations.queued).toEqual(inPhase('queued'));
          expect(operations.waits).toEqual(new Set(live.filter(({ unit }) => unit.step.kind !== 'step')));
          const isEnded = ({ unit }: OpenOperation) => unit.step === steps[0] || unit.step === steps[1];
          expect(operations.underWay).toEqual(new Set(live.filter(isEnded)));
          const recorded = [...inPhase('recorded')].map(
            (other) => other.phase as { seq: number; outcome?: Outcome },
          );
          expect(operations.hasRecorded).toBe(recorded.length > 0);
          expect(operations.firstRecorded?.phase.seq).toBe(
            recorded.length === 0 ? undefined : Math.min(...recorded.map(({ seq }) => seq)),
          );
          expect(operations.isOneJustEnded).toBe(open.size === 1 && recorded[0]?.outcome !== undefined);
        }
      },
    ),
    { numRuns: 200 },
  );
});
