/**
 * Draws a workflow in which nothing can continue by itself: receivers that never answer, questions that nobody answers and that
 * exceed the room for open waits, policies that cannot be evaluated, conditions that never hold.
 */
import { z } from 'zod';
import { RetryAt } from '../../../packages/cairn/src/core/errors.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import type { Handle } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { Outside } from '../../support/outside.ts';
import type { Draw } from '../data/draw.ts';

export const KINDS = ['receiver', 'crowd', 'step policy', 'event', 'approval', 'poll'] as const;
type Kind = (typeof KINDS)[number];

export interface Place {
  readonly kind: Kind;
  readonly items: number;
  readonly concurrency: number;
  readonly attempts: number;
}

export interface Standstill {
  readonly places: readonly Place[];
  /** True if the policy of the workflow itself cannot be evaluated. */
  readonly unasked: boolean;
  /** Length of names. Longer names make longer questions, of which fewer fit. */
  readonly nameLength: number;
  /** True if the side effect can be looked up; the lookup gets no answer either. */
  readonly canLookUp: boolean;
}

/** More questions than fit among the open waits with the longest names. */
const CROWD = 540;
const LONG_NAME = 80;
/** Interval between two polls. */
export const POLL_MS = 6 * 3_600_000;

export function drawStandstill(draw: Draw): Standstill {
  const kinds = Array.from({ length: draw.between(1, 3) }, () =>
    draw.weighted<Kind>([
      [4, 'receiver'],
      [1, 'crowd'],
      [3, 'step policy'],
      [2, 'event'],
      [2, 'approval'],
      [2, 'poll'],
    ]),
  );
  return {
    places: kinds.map((kind) => ({
      kind,
      items: kind === 'crowd' ? CROWD : draw.between(1, 12),
      concurrency: kind === 'crowd' ? CROWD : draw.between(1, 12),
      attempts: kind === 'crowd' ? 1 : draw.between(1, 3),
    })),
    unasked: draw.chance(0.15),
    nameLength: kinds.includes('crowd') ? LONG_NAME : draw.between(4, LONG_NAME),
    canLookUp: !kinds.includes('crowd') && draw.chance(0.3),
  };
}

export interface Stood {
  readonly workflow: Workflow;
  readonly outside: Outside;
}

function silent(): never {
  throw new Error('the line went dead');
}

export function stand({ places, unasked, nameLength, canLookUp }: Standstill, now: () => number): Stood {
  const name = 'x'.repeat(nameLength);
  const outside = new Outside({ id: `post.${name}`, withLookup: canLookUp });
  outside.onCall = silent;
  outside.onLookUp = silent;
  const { capability } = outside;
  const workflow = defineWorkflow({
    type: 'standing',
    planVersion: 1,
    input: z.object({}),
    ...(unasked ? { policy: silent } : {}),
    steps(step) {
      const place = ({ kind, items, concurrency, attempts }: Place, n: number): Handle<unknown> => {
        const id = `${name}-${n}`;
        const retry = { maxAttempts: attempts, initialMs: 1_000 };
        switch (kind) {
          case 'receiver':
          case 'crowd':
            return step.map(
              id,
              {
                uses: [capability],
                retry,
                concurrency,
                over: () => Array.from({ length: items }, (_, i) => i),
              },
              ({ perform, item }) => perform(capability, { text: `${n} ${item}` }),
            );
          case 'step policy':
            return step(id, { policy: silent, retry }, () => 1);
          case 'event':
            return step.event(id, { event: 'never', key: () => `k${n}` });
          case 'approval':
            return step.approval(id, { ask: () => ({ question: `what of ${n}?` }) });
          case 'poll':
            return step(id, { poll: { within: '60d' } }, () => {
              throw new RetryAt(now() + POLL_MS, 'not yet');
            });
        }
      };
      return Object.fromEntries(places.map((one, n) => [`n${n}`, place(one, n)]));
    },
  });
  return { workflow, outside };
}
