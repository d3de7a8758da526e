/** The workflow of the kit: one HTTP call, made once, after a person's approval if the instance requires it. */
import { defineWorkflow, type Workflow } from 'cairn';
import { HttpCall, repeatableCall, singleCall } from './capabilities.ts';
import type { Approval, InDoubt } from './parameters.ts';

export interface Terms {
  readonly approval: Approval;
  readonly inDoubt: InDoubt;
}

/** The question shows this much of the call; the whole is the input of the run. */
const SHOWN_CHARS = 2_000;

/** @param terms current terms of the instance; a run keeps the terms under which it began */
export const httpCallUnder = (terms: () => Terms): Workflow =>
  defineWorkflow({
    type: 'http-call',
    planVersion: 1,
    input: HttpCall,
    steps(step) {
      const agreed = step('terms', () => {
        const { approval, inDoubt } = terms();
        return { approval, inDoubt };
      });
      const approved = step.approval('approve', {
        needs: { agreed },
        when: ({ agreed }) => agreed.approval === 'always',
        ask: ({ input: { method, path, body } }) => ({
          question: `Call ${method} ${path}?`,
          details: {
            body: JSON.stringify(body ?? null)
              .slice(0, SHOWN_CHARS)
              .toWellFormed(),
          },
        }),
      });
      const answer = step(
        'call',
        {
          needs: { agreed, approved },
          ifSkipped: 'run',
          uses: [repeatableCall, singleCall],
          timeout: '60s',
          retry: { maxAttempts: 10 },
        },
        ({ input, agreed, perform }) =>
          perform(agreed?.inDoubt === 'repeat' ? repeatableCall : singleCall, input),
      );
      return { answer };
    },
  });
