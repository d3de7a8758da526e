/* biome-ignore-all lint/suspicious/noTemplateCurlyInString: made-up sources hold templates */
import { describe } from '@jest/globals';
import { awaitOperations } from '../../packages/cairn/src/lint/rules/await-operations.ts';
import { inRun, invalid, javascript, typescript, valid } from './tester.ts';

describe('cairn/await-operations', () => {
  javascript.run('in JavaScript', awaitOperations, {
    valid: [
      ...valid(
        `const a = await flow.step('a', () => 1); return a;`,
        `return flow.step('a', () => 1);`,
        `await Promise.all([flow.step('a', load), flow.sleep('b', '1h')]);`,
        `const both = [flow.step('a', load), flow.step('b', load)]; await Promise.all(both);`,
        `const late = flow.event('paid', { key }); await flow.sleep('patience', '1h'); return late;`,
        `let late; late = flow.event('paid', { key }); await flow.sleep('patience', '1h'); await late;`,
        `const p = flow.step('a', load); p.catch(() => {}); await p;`,
        `await Promise.all(items.map((item) => flow.step('a', () => load(item))));`,
        `await Promise.allSettled(items.map(async (item) => { await flow.step('a', () => load(item)); }));`,
        `const all = items.map(async (item) => { await flow.step('a', () => load(item)); }); await Promise.all(all);`,
        `const all = []; for (const item of items) all.push(flow.step('a', () => load(item))); await Promise.all(all);`,
        `for (const item of items) { await flow.step('a', () => load(item)); }`,
        `for (const p of items.map((item) => flow.step('a', () => load(item)))) await p;`,
        `const ask = async (item) => { await flow.step('a', () => load(item)); }; for (const item of items) await ask(item);`,
        `const ask = (item) => flow.step('a', () => load(item)); return ask(order);`,
        `await (async () => { await flow.step('a', load); })();`,
        `return flow.step('a', load).then((a) => flow.step('b', () => a)).catch(() => 'none');`,
        `return order ? flow.step('a', load) : flow.step('b', load);`,
        `return (await flow.approval('ok', 'Really?')) ?? (await flow.step('b', load));`,
        `void flow.approval('question', 'Really?');`,
        `collect(flow.step('a', load));`,
        `const { parcel } = await flow.perform(label, { order });`,
        `if (await flow.step('ok', load)) return 1;`,
        `flow.log('hello'); const id = flow.runId;`,
        `const winner = await Promise.race([flow.event('e', { key }), flow.sleep('s', '1h').then(() => 'late')]);`,
        `return Promise.all(items.map((item) => flow.perform(send, item)));`,
        `const sums = await Promise.all(Array.from(items, (item) => flow.step('a', () => load(item))));`,
        // Bodies may do what they like.
        `await flow.step('a', () => { load(); items.forEach(async (item) => { await send(item); }); });`,
      ),
      // Nothing of ours.
      `const flow = other(); flow.step('a', () => 1);`,
      `pipe.flow(add, double, async (x) => { x.step('a'); });`,
      `import { runAgent } from 'elsewhere'; ${inRun('runAgent(flow, options);')}`,
    ],
    invalid: [
      ...invalid(
        [`const p = flow.event('paid', { key }); return 1;`, 'lost'],
        [`const p = flow.step('a', load); p.catch(() => {});`, 'lost'],
        [`Promise.all([flow.step('a', load), flow.step('b', load)]);`, 'lost', 'lost'],
        [`Promise.all(items.map((item) => flow.step('a', () => load(item))));`, 'lost'],
        [`items.map((item) => flow.step('a', () => load(item)));`, 'lost'],
        [`const all = []; for (const item of items) all.push(flow.step('a', () => load(item)));`, 'lost'],
        [`flow.step('a', load).then((a) => a);`, 'lost'],
        [`(async () => { await flow.step('a', load); })();`, 'lost'],
        [`items.forEach(async (item) => { await flow.step('a', () => load(item)); });`, 'forEach'],
        [`items.forEach((item) => flow.step('a', () => load(item)));`, 'forEach'],
        [`await items.map((item) => flow.step('a', () => load(item)));`, 'value'],
        [`return items.map((item) => flow.step('a', () => load(item)));`, 'value'],
        [`return { a: flow.step('a', load) };`, 'value'],
        [`if (flow.step('ok', load)) return 1;`, 'value'],
        [`const ok = flow.step('ok', load); if (!ok) return 1;`, 'value'],
        [`const { parcel } = flow.perform(label, { order });`, 'value'],
        [`return flow.step('a', load).parcel;`, 'value'],
        [`const now = flow.now(); return now > order.due;`, 'value'],
        ['return `at ${flow.now()}`;', 'value'],
        [`return items.filter(async (item) => { return await flow.step('a', () => load(item)); });`, 'value'],
      ),
      {
        code: inRun(`flow.step('charge', load);`),
        errors: [
          {
            message:
              "The promise of 'flow.step(…)' is lost: the code continues without it, a wait may never be opened, and a failure is not seen. Write 'await flow.step(…)', return it or give it to Promise.all. Write 'void' if that is intended.",
            line: 2,
            suggestions: [{ messageId: 'await', output: inRun(`await flow.step('charge', load);`) }],
          },
        ],
      },
      {
        code: inRun(`const ask = async () => { await flow.step('a', load); }; ask();`),
        errors: [
          {
            messageId: 'lost',
            data: { call: 'ask(…)' },
            suggestions: [
              {
                messageId: 'await',
                output: inRun(`const ask = async () => { await flow.step('a', load); }; await ask();`),
              },
            ],
          },
        ],
      },
      {
        code: inRun(
          `if (order) { charge(flow, order); }`,
          `async function charge(f, order) { f.sleep('s', '1h'); }`,
        ),
        errors: [
          {
            messageId: 'lost',
            data: { call: 'f.sleep(…)' },
            suggestions: [
              {
                messageId: 'await',
                output: inRun(
                  `if (order) { charge(flow, order); }`,
                  `async function charge(f, order) { await f.sleep('s', '1h'); }`,
                ),
              },
            ],
          },
          {
            messageId: 'lost',
            data: { call: 'charge(…)' },
            suggestions: [
              {
                messageId: 'await',
                output: inRun(
                  `if (order) { await charge(flow, order); }`,
                  `async function charge(f, order) { f.sleep('s', '1h'); }`,
                ),
              },
            ],
          },
        ],
      },
      {
        code: inRun(`const result = runAgent(flow, options);`, `import { runAgent } from '@cairn/agents';`),
        errors: [{ messageId: 'lost', data: { call: 'runAgent(…)' } }],
      },
      {
        code: `const code = async ({ step, sleep: rest }) => { const a = step('a', load); const b = rest('b', 1); };
step.flow('main', {}, code);`,
        errors: [{ messageId: 'lost' }, { messageId: 'lost' }],
      },
      {
        code: inRun(`const same = flow; const p = same['step']('a', load);`),
        errors: [{ messageId: 'lost' }],
      },
    ],
  });

  typescript.run('in TypeScript', awaitOperations, {
    valid: [
      ...valid(
        `const a = (await flow.step('a', () => 1))!; return a as number satisfies number;`,
        `return (flow.step<string>('a', load) as Promise<string>)!;`,
        `await Promise.all(items.map((item: Item): Promise<void> => flow.step('a', () => load(item))));`,
      ),
      `import type { Flow } from 'elsewhere'; async function ask(flow: Flow<string>) { flow.step('a', load); }`,
    ],
    invalid: [
      ...invalid(
        [`const a = flow.step('a', load) as unknown as string;`, 'lost'],
        [`const a = flow.step('a', load)!; return a!.length;`, 'value'],
      ),
      {
        code: `import { type Flow } from 'cairn'; function ask<I>(f: Flow<I>, other: string) { f.step('a', load)!; }`,
        errors: [{ messageId: 'lost', data: { call: 'f.step(…)' } }],
      },
    ],
  });
});
