/** `cairn/no-unrecorded-values`: the code of a flow takes the time, random values and the environment from the journal. */
import type { Rule } from 'eslint';
import { flowCodeOf } from '../flow-code.ts';
import { importedFrom, type Syntax, shortText } from '../syntax.ts';

const BODY = 'in the body of flow.step';
const TIME = `Use 'await flow.now()', or take it ${BODY}.`;
const DURATION = `Use the difference of two 'await flow.now()', or measure ${BODY}.`;
const RANDOM = `Use 'await flow.random()', or draw it ${BODY}.`;
const ID = `Make it ${BODY}: await flow.step('make-id', () => …).`;
const ENVIRONMENT = `Another deployment may have another value. Read it ${BODY}, or give it to the run as input.`;

/** By the origin of the called function. */
const CALLS: Readonly<Record<string, string>> = {
  'Date.now': TIME,
  'performance.now': DURATION,
  'perf_hooks:performance.now': DURATION,
  'process.hrtime': DURATION,
  'process.hrtime.bigint': DURATION,
  'process:hrtime': DURATION,
  'process:hrtime.bigint': DURATION,
  'Math.random': RANDOM,
  'crypto.getRandomValues': RANDOM,
  'crypto:getRandomValues': RANDOM,
  'crypto:randomBytes': RANDOM,
  'crypto:randomInt': RANDOM,
  'crypto.randomUUID': ID,
  'crypto:randomUUID': ID,
  'nanoid:nanoid': ID,
  'ulid:ulid': ID,
  'uuid:v1': ID,
  'uuid:v4': ID,
  'uuid:v6': ID,
  'uuid:v7': ID,
};
const CLOCK_OF_TEMPORAL = 'Temporal.Now.';
const ENVIRONMENTS = new Set(['process.env', 'process:env']);

export const noUnrecordedValues: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'The code of a flow decides by recorded values only' },
    schema: [],
    messages: {
      flow: "'{{value}}' is not recorded: when the code of the flow runs again, after a wait or a crash, it has another value, and the code may decide otherwise than the journal says (FLOW_DIVERGED). {{instead}}",
      loop: "'{{value}}' has another value when this function of the loop is called again after a crash. Take it in 'body', and keep it in the state.",
    },
  },
  create(context) {
    const { sourceCode } = context;
    const reportCall = (node: Syntax, instead: string | undefined) => {
      if (instead === undefined) return;
      const code = flowCodeOf(sourceCode);
      const runner = code.runnerOf(node);
      if (!runner || code.isTimeOfSleep(node)) return;
      const data = { value: shortText(sourceCode, node), instead };
      context.report({ node, messageId: runner, data });
    };
    return {
      CallExpression(node) {
        const origin = importedFrom(sourceCode, node.callee) ?? '';
        const isClock = origin === 'Date' || origin.startsWith(CLOCK_OF_TEMPORAL);
        reportCall(node, isClock ? TIME : Object.hasOwn(CALLS, origin) ? CALLS[origin] : undefined);
      },
      NewExpression(node) {
        const isNow = node.arguments.length === 0 && importedFrom(sourceCode, node.callee) === 'Date';
        reportCall(node, isNow ? TIME : undefined);
      },
      MemberExpression(node) {
        reportCall(node, ENVIRONMENTS.has(importedFrom(sourceCode, node) ?? '') ? ENVIRONMENT : undefined);
      },
    };
  },
};
