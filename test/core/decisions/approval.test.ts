import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  approvalDecision,
  assertFeedbackFits,
  MAX_KEPT_FEEDBACK_BYTES,
  MAX_REVISIONS,
  sentBackBy,
} from '../../../packages/cairn/src/core/decisions/approval.ts';
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';
import { buildGraph } from '../../../packages/cairn/src/core/graph/graph.ts';
import { DECISIONS } from '../../../packages/cairn/src/core/run/events.ts';
import { isOver, type RunState, stepKey } from '../../../packages/cairn/src/core/run/state.ts';
import { acyclicNodes } from '../graph/random-graph.ts';
import { grownBy, opened, questionOf, running, sentBack, succeeded } from '../run/journal-drafts.ts';
import { journals } from '../run/random-journal.ts';

const payloadHash = 'f'.repeat(64);

describe('the decision about an answer to any question of any run', () => {
  test('accepts an open question in time, repeats an earlier answer, or refuses with a stable code', () => {
    const request = fc.record({
      step: fc.constantFrom('gate', 's0', 'e', 'm[0]', 'nope'),
      decision: fc.constantFrom(...DECISIONS),
      now: fc.integer({ min: 0, max: 2 ** 42 }),
    });
    let kinds = new Set<string>();
    fc.assert(
      fc.property(journals(), request, ({ states }, { step, decision, now }) => {
        for (const state of states) {
          const open = state.waits.find(
            ({ kind, execution }) => kind === 'approval' && stepKey(execution) === step,
          );
          const decided = state.decisions.find(({ stepId }) => stepId === step);
          try {
            const outcome = approvalDecision(state, { step, decision, payloadHash }, now);
            kinds = kinds.add(outcome.kind);
            if (outcome.kind === 'repeated') expect(outcome.decided).toBe(decided);
            else {
              expect(outcome.wait).toBe(open);
              expect(isOver(state) || state.cancellation !== undefined || state.compensating).toBe(false);
              expect(now).toBeLessThan(outcome.wait.dueAt ?? Number.POSITIVE_INFINITY);
            }
          } catch (error) {
            if (!(error instanceof CairnError)) throw error;
            kinds = kinds.add(error.code);
            expect(error.httpStatus).toBeLessThan(500);
          }
        }
      }),
      { numRuns: 300, seed: 1 },
    );
    expect([...kinds]).toEqual(
      expect.arrayContaining(['decide', 'APPROVAL_DECIDED', 'RUN_TERMINAL_STATE', 'NOT_FOUND']),
    );
  });
});

const chain = buildGraph([
  { id: 'a', needs: [] },
  { id: 'b', needs: ['a'] },
  { id: 'gate', needs: ['b'] },
  { id: 'z', needs: ['gate'] },
]);

describe('sending steps back', () => {
  test('sends back the steps and everything that depends on them, always including the approval', () => {
    fc.assert(
      fc.property(acyclicNodes(), fc.nat(), fc.nat(), (nodes, pick, other) => {
        const graph = buildGraph(nodes);
        const approval = graph.order[pick % graph.order.length] ?? '';
        const named = graph.order[other % graph.order.length] ?? '';
        const isBefore = graph.descendants([named]).has(approval);
        const send = () => sentBackBy(graph, running(), { approval, named: [named] });
        if (!isBefore) expect(send).toThrow(CairnError);
        else {
          const { steps, again } = send();
          expect(steps).toEqual([named]);
          expect(again).toContain(approval);
          expect(new Set(again)).toEqual(new Set([named, ...graph.descendants([named])]));
        }
      }),
    );
  });

  test('is refused with advice if the approval needs no step', () => {
    expect(() => sentBackBy(chain, running(), { approval: 'a' })).toThrow(
      expect.objectContaining({ field: 'steps', help: 'Approve, reject or halt instead.' }),
    );
  });

  test(`ends at revision ${MAX_REVISIONS}`, () => {
    const at = (revision: number): RunState => grownBy(running(), [succeeded('b', { revision })]);
    expect(sentBackBy(chain, at(MAX_REVISIONS - 1), { approval: 'gate' }).steps).toEqual(['b']);
    expect(() => sentBackBy(chain, at(MAX_REVISIONS), { approval: 'gate' })).toThrow(
      expect.objectContaining({ code: 'RUN_INVALID_TRANSITION', stepId: 'b' }),
    );
    // Applies to dependents too.
    expect(() => sentBackBy(chain, at(MAX_REVISIONS), { approval: 'gate', named: ['a'] })).toThrow(
      expect.objectContaining({ stepId: 'b' }),
    );
  });

  test('is refused once the feedback kept in the run is too large', () => {
    const half = 'x'.repeat(MAX_KEPT_FEEDBACK_BYTES / 2);
    const state = grownBy(running(), [
      opened(questionOf('gate')),
      sentBack('gate.1', ['gate'], { feedback: half }),
      opened(questionOf('other', { id: 'other.1' })),
      sentBack('other.1', ['other'], { feedback: half }),
    ]);
    expect(() => assertFeedbackFits(state, 'x')).toThrow(
      expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE', field: 'feedback' }),
    );
    expect(() => assertFeedbackFits(running(), half + half)).not.toThrow();
    expect(() => assertFeedbackFits(running(), 'é'.repeat(MAX_KEPT_FEEDBACK_BYTES / 2 + 1))).toThrow(
      CairnError,
    );
  });
});
