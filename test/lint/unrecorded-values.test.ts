import { describe } from '@jest/globals';
import { noUnrecordedValues } from '../../packages/cairn/src/lint/rules/no-unrecorded-values.ts';
import { inRun, invalid, javascript, typescript, valid } from './tester.ts';

const loop = (members: string) =>
  `defineWorkflow({ type: 'w', planVersion: 1, input, steps(step) { return { out: step.loop('l', { ${members} }) }; } });`;

describe('cairn/no-unrecorded-values', () => {
  javascript.run('in JavaScript', noUnrecordedValues, {
    valid: [
      ...valid(
        `const at = await flow.now(); if (at > order.due) await flow.step('late', load);`,
        `await flow.step('a', () => Date.now());`,
        `await flow.step('a', async () => { const ids = items.map(() => crypto.randomUUID()); return helper(ids, () => Math.random()); });`,
        `await flow.map('a', items, ({ item }) => ({ item, at: new Date().toISOString() }));`,
        `const stamp = () => Date.now(); await flow.step('a', stamp);`,
        `function stamp() { return process.env.REGION; } await flow.step('a', () => stamp());`,
        `const due = new Date(await flow.now()); const parsed = Date.parse(order.at); return Math.max(due, parsed);`,
        `await flow.sleep('until-then', new Date(Date.now() + order.delay));`,
        `const Date = order; return Date.now();`,
        // Functions that others call.
        `await agent(flow, { tools: [tool({ run: () => Date.now() })] });`,
      ),
      `defineWorkflow({ type: 'w', input, steps(step) { step('a', () => Date.now()); step('b', { when: () => x }, () => Math.random()); } });`,
      `export const began = Date.now(); ${inRun('await flow.step("a", () => 1);')}`,
      loop(
        `state: () => ({ n: 0 }), while: ({ state }) => state.n < 3, max: 3, body: () => ({ at: Date.now() })`,
      ),
      `list.loop('x', { body: () => Date.now(), while: true });`,
    ],
    invalid: [
      ...invalid(
        [`if (Date.now() > order.due) await flow.step('late', load);`, 'flow'],
        [`const at = new Date(); return Date();`, 'flow', 'flow'],
        [`return globalThis.Date.now() + performance.now();`, 'flow', 'flow'],
        [`return Temporal.Now.instant();`, 'flow'],
        [`if (Math.random() < 0.5) return 1;`, 'flow'],
        [`const id = crypto.randomUUID(); await flow.step('a', () => load(id));`, 'flow'],
        [`await flow.step('a', load, { input: Date.now() });`, 'flow'],
        [`await flow.sleep('s' + Date.now(), '1h');`, 'flow'],
        [`return process.env.REGION === 'eu' ? 1 : process.hrtime.bigint();`, 'flow', 'flow'],
        [`await Promise.all(items.map((item) => flow.step('a' + Math.random(), () => load(item))));`, 'flow'],
        [`const late = () => Date.now() > order.due; if (late()) return 1;`, 'flow'],
        [`return new Promise((resolve) => resolve(Date.now()));`, 'flow'],
        [`return flow.step('a', load).then((a) => a + Date.now());`, 'flow'],
      ),
      {
        code: inRun(`return Date.now();`),
        errors: [
          {
            message:
              "'Date.now()' is not recorded: when the code of the flow runs again, after a wait or a crash, it has another value, and the code may decide otherwise than the journal says (FLOW_DIVERGED). Use 'await flow.now()', or take it in the body of flow.step.",
          },
        ],
      },
      {
        code: inRun(
          `return [randomUUID(), id(), nodeCrypto.randomBytes(8), uuid()];`,
          `import { randomUUID } from 'node:crypto'; import * as nodeCrypto from 'crypto'; import { nanoid as id } from 'nanoid'; import { v4 as uuid } from 'uuid';`,
        ),
        errors: [1, 2, 3, 4].map(() => ({ messageId: 'flow' })),
      },
      {
        code: inRun(
          `await ask(flow);`,
          `async function ask(flow) { if (Date.now() > 0) await flow.step('a', load); }`,
        ),
        errors: [{ messageId: 'flow' }],
      },
      {
        code: loop(
          `state: () => ({ at: Date.now() }), while: ({ state }) => Date.now() < state.at, pause: () => Math.random(), max: 3, body: ({ state }) => state`,
        ),
        errors: [1, 2, 3].map(() => ({ messageId: 'loop' })),
      },
    ],
  });

  typescript.run('in TypeScript', noUnrecordedValues, {
    valid: valid(`const at: number = await flow.step<number>('a', () => Date.now() as number);`),
    invalid: [
      ...invalid([`const at = (Date.now() as number)!;`, 'flow']),
      {
        code: `import type { Flow } from 'cairn'; export const ask = async (flow: Flow<Order>) => Math.random();`,
        errors: [{ messageId: 'flow' }],
      },
    ],
  });
});
