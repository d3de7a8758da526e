/** `cairn/await-operations`: the promise of an operation must be used. */
import type { Rule } from 'eslint';
import { flowCodeOf } from '../flow-code.ts';
import { Promises, type PromiseUse } from '../promises.ts';
import { functionAround, parentOf, shortText } from '../syntax.ts';

const MESSAGES: Readonly<Record<Exclude<PromiseUse, 'used'>, string>> = {
  lost: "The promise of '{{call}}' is lost: the code continues without it, a wait may never be opened, and a failure is not seen. Write 'await {{call}}', return it or give it to Promise.all. Write 'void' if that is intended.",
  forEach:
    "'forEach' does not wait for '{{call}}'. Write 'for (const item of items) await …', or 'await Promise.all(items.map(…))' for operations that run at once.",
  value:
    "'{{call}}' is a promise here, not the value that it resolves to. Write 'await {{call}}', or 'await Promise.all(…)' for several.",
};

export const awaitOperations: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'Operations of a flow are awaited, returned or combined' },
    hasSuggestions: true,
    schema: [],
    messages: { ...MESSAGES, await: "Write 'await'." },
  },
  create(context) {
    const { sourceCode } = context;
    return {
      Program() {
        const code = flowCodeOf(sourceCode);
        const calls = code.operations.flatMap(({ call, isInBody }) => (isInBody ? [] : [call]));
        for (const call of [...calls, ...code.callsOfHelpers]) {
          const use = new Promises(sourceCode, code).useOf(call);
          if (use === 'used') continue;
          const isStatement = parentOf(call)?.type === 'ExpressionStatement';
          const canAwait = isStatement && functionAround(call)?.async === true;
          context.report({
            node: call,
            messageId: use,
            data: { call: `${shortText(sourceCode, call.callee)}(…)` },
            suggest: canAwait
              ? [{ messageId: 'await', fix: (fixer) => fixer.insertTextBefore(call, 'await ') }]
              : [],
          });
        }
      },
    };
  },
};
