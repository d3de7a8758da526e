/** ESLint's rule tester with the runner of this repository, and the sources that the tables are made of. */
import { describe, test } from '@jest/globals';
import { RuleTester } from 'eslint';
import * as parser from '../../scripts/lint/typescript-parser.ts';

RuleTester.describe = describe as never;
RuleTester.it = test as never;
RuleTester.itOnly = test.only as never;

/** Sources as JavaScript, read by ESLint's own parser. */
export const javascript = new RuleTester();
/** Sources as TypeScript: types and casts are in the tree. */
export const typescript = new RuleTester({ languageOptions: { parser } });

/** The code of a workflow that is one flow. */
export function inRun(code: string, before = ''): string {
  return `${before}
defineWorkflow({ type: 'w', planVersion: 1, input, run: async (flow, { items, order }) => { ${code} } });`;
}

/** The code of a flow that is a step of a graph. */
export function inStep(code: string): string {
  return `defineWorkflow({ type: 'w', planVersion: 1, input, steps(step) {
  return { out: step.flow('main', { uses }, async (f, { input: { items, order } }) => { ${code.replaceAll(/\bflow\b/g, 'f')} }) };
} });`;
}

/** Each piece of code as a run and as a step. */
export const valid = (...codes: string[]) => codes.flatMap((code) => [inRun(code), inStep(code)]);

/** Each piece of code as a run and as a step, with the messages that are reported, in order. */
export const invalid = (...cases: (readonly [code: string, ...messageIds: string[]])[]) =>
  cases.flatMap(([code, ...messageIds]) => {
    const errors = messageIds.map((messageId) => ({ messageId }));
    return [
      { code: inRun(code), errors },
      { code: inStep(code), errors },
    ];
  });
