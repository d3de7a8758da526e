/** `cairn/no-work-outside-steps`: the code of a flow awaits nothing but operations, and does no I/O between them. */
import type { Rule, SourceCode } from 'eslint';
import { type FlowCodeScan, flowCodeOf } from '../flow-code.ts';
import { COMBINATORS } from '../promises.ts';
import {
  type CallSyntax,
  functionAround,
  functionOf,
  importedFrom,
  initialOf,
  methodOf,
  nodesOf,
  parentOf,
  type Syntax,
  shortText,
  unwrapped,
  variableOf,
} from '../syntax.ts';

const TIMERS = new Set([
  ...['setTimeout', 'setInterval', 'setImmediate'],
  ...['timers:setTimeout', 'timers:setInterval', 'timers:setImmediate'],
  ...['timers/promises:setTimeout', 'timers/promises:setInterval', 'timers/promises:scheduler.wait'],
]);
/** Modules that do I/O. The effect of other calls is unknown, so they are reported only if their promise is awaited. */
const OUTSIDE =
  /^(?:fs|fs\/promises|child_process|http|https|http2|net|dgram|undici|axios|got|node-fetch|firebase-admin\/[a-z]+):/;
const OF_PROMISES = new Set(['then', 'catch', 'finally']);

const INSTEAD = {
  timer: "Use 'await flow.sleep(name, time)', which holds no worker and outlives a crash.",
  outside: "Put it into the body of 'flow.step', or call a capability by 'flow.perform'.",
};

export const noWorkOutsideSteps: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'Calls that take time or do I/O are operations of the flow' },
    schema: [],
    messages: {
      work: "'{{what}}' between the operations of a flow is done again each time the code runs, after every wait and crash. {{instead}}",
      loop: "'{{what}}' in a function of the loop is done again after a crash. Do it in 'body'.",
      awaited:
        "The code of the flow awaits '{{what}}', which is no operation: it is repeated each time the code runs, and given up where all else waits. Put it into a body: await flow.step('name', () => …).",
    },
  },
  create(context) {
    const { sourceCode } = context;
    const awaited: Syntax[] = [];
    const reported = new Set<Syntax>();
    return {
      CallExpression(node) {
        const kind = workOf(sourceCode, node);
        const runner = kind && flowCodeOf(sourceCode).runnerOf(node);
        if (!kind || !runner) return;
        reported.add(node);
        const data = { what: shortText(sourceCode, node.callee), instead: INSTEAD[kind] };
        context.report({ node, messageId: runner === 'flow' ? 'work' : 'loop', data });
      },
      AwaitExpression(node) {
        awaited.push(node.argument);
      },
      ForOfStatement(node) {
        if (node.await) awaited.push(node.right);
      },
      'Program:exit'() {
        const code = flowCodeOf(sourceCode);
        for (const expression of awaited) {
          const parent = parentOf(expression);
          if (!parent || code.runnerOf(parent) !== 'flow') continue;
          for (const node of otherWork(sourceCode, code, expression)) {
            // A call in it has been reported.
            if ([...nodesOf(sourceCode, node)].some((one) => reported.has(one))) continue;
            reported.add(node);
            context.report({ node, messageId: 'awaited', data: { what: shortText(sourceCode, node) } });
          }
        }
      },
    };
  },
};

function workOf(source: SourceCode, { callee }: CallSyntax): keyof typeof INSTEAD | undefined {
  const origin = importedFrom(source, callee) ?? '';
  if (TIMERS.has(origin)) return 'timer';
  return origin === 'fetch' || OUTSIDE.test(origin) ? 'outside' : undefined;
}

/** Calls, other than of the flow, whose promises the expression waits for. Unknown syntax counts as none. */
function otherWork(source: SourceCode, code: FlowCodeScan, expression: Syntax): Syntax[] {
  const work = (node: Syntax | null | undefined) => (node ? otherWork(source, code, node) : []);
  const node = unwrapped(expression);
  switch (node.type) {
    case 'ConditionalExpression':
      return [...work(node.consequent), ...work(node.alternate)];
    case 'LogicalExpression':
      return [...work(node.left), ...work(node.right)];
    case 'ArrayExpression':
      return node.elements.flatMap(work);
    case 'Identifier':
      return work(initialOf(variableOf(source, node)));
    case 'NewExpression':
      return importedFrom(source, node.callee) === 'Promise' && !code.derives(node) ? [node] : [];
    case 'CallExpression':
      return workOfCall(source, code, node);
    default:
      return [];
  }
}

function workOfCall(source: SourceCode, code: FlowCodeScan, call: CallSyntax): Syntax[] {
  const [first] = call.arguments;
  if (COMBINATORS.has(importedFrom(source, call.callee) ?? '')) {
    return first ? otherWork(source, code, first) : [];
  }
  if (code.derives(call)) return [];
  const callee = unwrapped(call.callee);
  const method = methodOf(call) ?? '';
  if (callee.type === 'MemberExpression' && OF_PROMISES.has(method)) {
    return otherWork(source, code, callee.object);
  }
  // Code of the flow too: its own awaits are checked.
  const called = functionOf(source, callee);
  if (called && code.isCode(called)) return [];
  const callback = first && functionOf(source, first);
  if (callback && code.isCode(callback) && functionAround(callback)) {
    return callback.body.type === 'BlockStatement' ? [] : otherWork(source, code, callback.body);
  }
  return [call];
}
