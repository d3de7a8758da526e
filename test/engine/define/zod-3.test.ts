import { defineTool } from '@cairn/agents';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { defineCapability } from '../../../packages/cairn/src/engine/define/capability.ts';
import type { WorkflowOptions } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';

const SCHEMAS_OF_3: readonly (() => unknown)[] = [
  () => z3.object({ a: z3.string() }),
  () => z3.string(),
  () => z3.array(z3.number()).optional(),
  () => z3.string().transform(Number),
  () => z3.union([z3.string(), z3.null()]).default('x'),
  () => z3.lazy(() => z3.any()),
];

type Options = WorkflowOptions<object>;
const NAMED = 'is a Zod 3 schema, whose members Cairn cannot read. Install Zod 4';

/** A definition for each option that takes a schema, with the beginning of its refusal. */
const PLACES: readonly (readonly [told: string, define: (schema: never) => unknown])[] = [
  [
    "workflow 'w': 'input'",
    (input) => defineWorkflow({ ...base, input, steps: (step) => ({ a: step('a', () => 1) }) }),
  ],
  [
    "workflow 'w': step 'a': 'output'",
    (output) => withSteps((step) => ({ a: step('a', { output }, () => 1) })),
  ],
  [
    "workflow 'w': step 'a': 'output'",
    (output) => withSteps((step) => ({ a: step.event('a', { event: 'e', key: () => 'k', output }) })),
  ],
  [
    "workflow 'w': step 'a': 'data'",
    (data) => withSteps((step) => ({ a: step.approval('a', { ask: () => '?', data }) })),
  ],
  [
    "workflow 'w': step 'a': 'answers.ok'",
    (ok) => withSteps((step) => ({ a: step.flow('a', { answers: { ok } }, async () => 1) })),
  ],
  ["capability 'c': 'request'", (request) => defineCapability({ ...calls, request, response: z.object({}) })],
  [
    "capability 'c': 'response'",
    (response) => defineCapability({ ...calls, request: z.object({}), response }),
  ],
  ["the input of the tool 't'", (input) => defineTool({ name: 't', description: 'd', input, run: () => 1 })],
];
const base = { type: 'w', planVersion: 1 } as const;
const calls = { id: 'c', sideEffects: 'external_action', idempotency: 'required' } as const;
const withSteps = (steps: Options['steps']) => defineWorkflow({ ...base, input: z.object({}), steps });

test('a schema of Zod 3 is refused at definition, by workflow, step and option, with what to install', () => {
  fc.assert(
    fc.property(fc.constantFrom(...PLACES), fc.constantFrom(...SCHEMAS_OF_3), ([told, define], made) => {
      expect(() => define(made() as never)).toThrow(`${told} ${NAMED}`);
    }),
  );
});

test.each(PLACES)('%s takes a schema of Zod 4', (_told, define) => {
  expect(() => define(z.object({ a: z.string() }) as never)).not.toThrow();
});
