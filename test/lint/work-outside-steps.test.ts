import { describe } from '@jest/globals';
import { noOperationsInBodies } from '../../packages/cairn/src/lint/rules/no-operations-in-bodies.ts';
import { noWorkOutsideSteps } from '../../packages/cairn/src/lint/rules/no-work-outside-steps.ts';
import { inRun, invalid, javascript, typescript, valid } from './tester.ts';

describe('cairn/no-work-outside-steps', () => {
  javascript.run('in JavaScript', noWorkOutsideSteps, {
    valid: [
      ...valid(
        `const a = await flow.step('a', async () => (await fetch(order.url)).json()); await flow.sleep('s', '1h');`,
        `await flow.step('a', async () => { await new Promise((resolve) => setTimeout(resolve, 10)); });`,
        `await flow.map('a', items, async ({ item }) => { await send(item); });`,
        `const load = async () => fetch(order.url); await flow.step('a', load); await flow.step('b', () => load());`,
        `await Promise.all(items.map((item) => flow.step('a', () => send(item))));`,
        `const all = []; for (const item of items) all.push(flow.step('a', () => send(item))); await Promise.all(all);`,
        `const ask = async (item) => { await flow.step('a', () => send(item)); }; await ask(order);`,
        `const double = async (n) => n * 2; await double(order.n);`,
        `await agent(flow, { tools: [tool({ run: async (url) => { await fetch(url); } })] });`,
        `const client = clientOf(flow); await client.ask('a'); await client.of('b').ask();`,
        `const p = flow.step('a', load); await flow.sleep('s', '1h'); await p.then((a) => a);`,
        `const p = order ? flow.step('a', load) : null; await p;`,
        `await undefined; await Promise.resolve();`,
        `await Promise.race([flow.event('e', { key }), flow.sleep('s', '1h')]);`,
        `await items.reduce((before, item) => before.then(() => flow.step('a', () => send(item))), Promise.resolve());`,
        `for await (const p of items.map((item) => flow.step('a', () => send(item)))) count(p);`,
        `await import('./prices.js');`,
      ),
      `async function other() { await fetch(url); } ${inRun('await flow.step("a", () => other());')}`,
      inRun('const fetch = order.fetch; fetch(1);'),
      inRun(
        'await talk(flow, clientOf(flow), 1);',
        'async function talk(flow, client, n) { await client.ask(n); await flow.sleep("s", "1h"); }',
      ),
      `export async function talk(client, flow) { await client.ask(); } ${inRun('await other(flow);')}`,
      inRun('const text = join("a", "b"); return text;', `import { join } from 'node:path';`),
    ],
    invalid: [
      ...invalid(
        [`const page = await fetch(order.url);`, 'work'],
        [`const page = await (await fetch(order.url)).json();`, 'work'],
        [`await new Promise((resolve) => setTimeout(resolve, 1000));`, 'work'],
        [`setInterval(() => {}, 10);`, 'work'],
        [`const status = await statusOf(order);`, 'awaited'],
        [`const { id } = await flow.step('a', load); await send(id);`, 'awaited'],
        [`await client.orders.get(order);`, 'awaited'],
        [`await Promise.all([flow.step('a', load), send(order)]);`, 'awaited'],
        [`await Promise.race([flow.event('e', { key }), timeout(1000)]);`, 'awaited'],
        [`await Promise.all(items.map((item) => send(item)));`, 'awaited'],
        [`await Promise.all(items.map(async (item) => { await send(item); }));`, 'awaited'],
        [`const sent = send(order); await flow.sleep('s', '1h'); await sent;`, 'awaited'],
        [`await send(order).then((a) => a).catch(() => null);`, 'awaited'],
        [`await (order ? send(order) : flow.step('a', load));`, 'awaited'],
        [`await new Promise((resolve) => emitter.once('end', resolve));`, 'awaited'],
        [`for await (const row of rows(order)) { await flow.step('a', () => send(row)); }`, 'awaited'],
      ),
      {
        code: inRun(
          `readFileSync('a'); await readFile('b'); fs.writeFileSync('c', 'd'); await rest(10); await axios.get(order.url);`,
          `import { readFileSync } from 'node:fs'; import { readFile } from 'node:fs/promises'; import fs from 'fs';
import { setTimeout as rest } from 'node:timers/promises'; import axios from 'axios';`,
        ),
        errors: [1, 2, 3, 4, 5].map(() => ({ messageId: 'work' })),
      },
      {
        code: inRun(`const a = await load(order);`),
        errors: [
          {
            message:
              "The code of the flow awaits 'load(order)', which is no operation: it is repeated each time the code runs, and given up where all else waits. Put it into a body: await flow.step('name', () => …).",
          },
        ],
      },
      {
        code: inRun(
          'await talk(flow, order, 1);',
          'async function talk(flow, client, n) { await client.ask(n); await flow.sleep("s", "1h"); }',
        ),
        errors: [{ messageId: 'awaited' }],
      },
      {
        code: `import { readFileSync } from 'fs';
step.loop('l', { state: () => readFileSync('a'), while: () => true, max: 2, body: () => fetch('b') });`,
        errors: [{ messageId: 'loop' }],
      },
    ],
  });

  typescript.run('in TypeScript', noWorkOutsideSteps, {
    valid: valid(`const a = (await (flow.step('a', () => load()) as Promise<number>)) satisfies number;`),
    invalid: invalid([`const a = (await (load(order) as Promise<number>)) satisfies number;`, 'awaited']),
  });
});

describe('cairn/no-operations-in-bodies', () => {
  javascript.run('in JavaScript', noOperationsInBodies, {
    valid: valid(
      `await flow.step('a', () => load()); await flow.sleep('s', '1h');`,
      `const parts = await flow.step('a', load); await flow.map('b', parts, ({ item }) => send(item));`,
      `const stamp = () => flow.runId; await flow.step('a', stamp);`,
    ),
    invalid: invalid(
      [`await flow.step('a', async () => { await flow.sleep('s', '1h'); });`, 'nested'],
      [`await flow.map('a', items, ({ item }) => flow.perform(send, item));`, 'nested'],
      [
        `const body = async () => { items.forEach(() => flow.now()); }; await flow.step('a', body);`,
        'nested',
      ],
    ),
  });
});
