/** `cairn/no-operations-in-bodies`: the body of an operation must not request operations. */
import type { Rule } from 'eslint';
import { flowCodeOf } from '../flow-code.ts';
import { shortText } from '../syntax.ts';

export const noOperationsInBodies: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'Operations of a flow cannot be called in the body of another operation' },
    schema: [],
    messages: {
      nested:
        "'{{call}}' is called in the body of an operation. A body that completed does not run again, so the code would not ask for it again, and the flow stops with FLOW_DIVERGED. Call it in the code of the flow, before or after the operation.",
    },
  },
  create(context) {
    const { sourceCode } = context;
    return {
      Program() {
        for (const { call, isInBody } of flowCodeOf(sourceCode).operations) {
          if (!isInBody) continue;
          const data = { call: `${shortText(sourceCode, call.callee)}(…)` };
          context.report({ node: call, messageId: 'nested', data });
        }
      },
    };
  },
};
