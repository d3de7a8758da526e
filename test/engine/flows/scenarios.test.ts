import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal, OperationFailed } from '../../../packages/cairn/src/core/errors.ts';
import { defineBinding, defineCapability } from '../../../packages/cairn/src/engine/define/capability.ts';
import { ended, flowWorkflow, started } from './one-flow.ts';

const pay = defineCapability({
  id: 'shop.pay',
  sideEffects: 'external_action',
  idempotency: 'required',
  request: z.object({ cents: z.number() }),
  response: z.object({ id: z.number() }),
});

function shop() {
  const keys: string[] = [];
  const binding = defineBinding(pay, {
    id: 'shop-stand-in',
    call: async (_, { idempotencyKey }) => {
      if (!keys.includes(idempotencyKey)) keys.push(idempotencyKey);
      return { id: keys.indexOf(idempotencyKey) };
    },
  });
  return { keys, binding };
}

describe('a flow', () => {
  test('runs each operation once, and outputs what its code returns', async () => {
    const { run } = await ended(async (flow) => {
      const a = await flow.step('a', () => 1);
      const b = await flow.step('b', () => a + 1);
      return { a, b };
    });
    expect(run.status()).toBe('completed');
    expect(await run.result()).toEqual({ out: { a: 1, b: 2 } });
    expect(run.steps().map(({ id, kind, status }) => [id, kind, status])).toEqual([
      ['main', 'flow', 'succeeded'],
      ['main[a]', 'step', 'succeeded'],
      ['main[b]', 'step', 'succeeded'],
    ]);
  });

  test('numbers a repeated name', async () => {
    const { run } = await ended(async (flow) => {
      let sum = 0;
      for (let turn = 0; turn < 3; turn += 1) sum += await flow.step('turn', () => turn);
      return sum;
    });
    expect(await run.result()).toEqual({ out: 3 });
    expect(run.steps().map(({ id }) => id)).toEqual(['main', 'main[turn]', 'main[turn.2]', 'main[turn.3]']);
  });

  test('rests while it sleeps, and repeats no completed operation', async () => {
    let codes = 0;
    const { runtime, run } = await started(async (flow) => {
      codes += 1;
      const before = await flow.step('before', () => 'b');
      await flow.sleep('night', '8h');
      return before + (await flow.step('after', () => 'a'));
    });
    await runtime.settle();
    expect(run.status()).toBe('waiting_external');
    expect(run.state().lease).toBeUndefined();
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ out: 'ba' });
    expect(codes).toBe(2);
    expect(run.calls('main[before]')).toBe(1);
  });

  test('runs fifty turns, each with a wait, and repeats none', async () => {
    const { run } = await ended(async (flow) => {
      let state = 0;
      for (let turn = 0; turn < 50; turn += 1) {
        state = await flow.step('turn', () => state + 1);
        await flow.sleep('pause', '1h');
      }
      return state;
    });
    expect(await run.result()).toEqual({ out: 50 });
    expect(run.calls('main')).toBe(50);
  });

  test('retries an operation by its own policy', async () => {
    const { run } = await ended(async (flow) =>
      flow.step(
        'shaky',
        ({ attempt }) => {
          if (attempt < 3) throw new Error('not yet');
          return attempt;
        },
        { retry: { maxAttempts: 3 } },
      ),
    );
    expect(await run.result()).toEqual({ out: 3 });
  });

  test('throws the failure of an operation into the code, the same each time the code runs', async () => {
    const seen: string[] = [];
    const { run } = await ended(async (flow) => {
      try {
        await flow.step('broken', () => {
          throw new Fatal('no such thing');
        });
      } catch (error) {
        expect(error).toBeInstanceOf(OperationFailed);
        const { code, operation, message } = error as OperationFailed;
        seen.push(`${operation} ${code} ${message}`);
      }
      await flow.sleep('pause', '1h');
      return flow.step('instead', () => 'ok');
    });
    expect(run.status()).toBe('completed');
    expect(seen).toEqual(['broken STEP_FAILED no such thing', 'broken STEP_FAILED no such thing']);
    expect(run.calls('main[broken]')).toBe(1);
  });

  test('that does not catch the failure of an operation fails with its code', async () => {
    const { run } = await ended(
      async (flow) => {
        await flow.step('slow', () => new Promise(() => {}), { timeout: '1s', retry: { maxAttempts: 1 } });
      },
      {},
      { patienceMs: 0 },
    );
    expect(run.status()).toBe('failed');
    expect(run.error()).toMatchObject({ code: 'STEP_TIMEOUT', stepId: 'main' });
  });

  test('whose code throws fails after one attempt, or by its own policy', async () => {
    let codes = 0;
    const code = async () => {
      codes += 1;
      if (codes < 3) throw new Error(`broken ${codes}`);
      return codes;
    };
    const once = await ended(code);
    expect(once.run.error()).toMatchObject({ code: 'STEP_FAILED', message: 'broken 1' });
    codes = 0;
    const again = await ended(code, { retry: { maxAttempts: 3 } });
    expect(await again.run.result()).toEqual({ out: 3 });
  });

  test('outputs the value of onFailure when it fails', async () => {
    const { run } = await ended(
      async () => {
        throw new Fatal('broken');
      },
      { onFailure: { degradeTo: 'nothing' } },
    );
    expect(await run.result()).toEqual({ out: 'nothing' });
  });

  test('runs operations concurrently, and waits for those it did not await', async () => {
    const ended_: string[] = [];
    const { run } = await ended(async (flow) => {
      void flow.step('unawaited', async () => void ended_.push('unawaited'));
      const all = await Promise.all([1, 2, 3].map((n) => flow.step('part', () => n)));
      return all;
    });
    expect(await run.result()).toEqual({ out: [1, 2, 3] });
    expect(ended_).toEqual(['unawaited']);
    expect(run.step('main[unawaited]').status).toBe('succeeded');
  });

  test('maps items, begins none after a failure, and compares the items', async () => {
    const { run } = await ended(async (flow) =>
      flow.map('double', [1, 2, 3], ({ item, index }) => item * 2 + index, { concurrency: 2 }),
    );
    expect(await run.result()).toEqual({ out: [2, 5, 8] });
    expect(run.steps().map(({ id }) => id)).toEqual([
      'main',
      'main[double[0]]',
      'main[double[1]]',
      'main[double[2]]',
    ]);
    const broken = await ended(async (flow) =>
      flow.map(
        'one',
        [1, 2, 3],
        ({ item }) => {
          if (item === 2) throw new Fatal('two');
          return item;
        },
        { concurrency: 1 },
      ),
    );
    expect(broken.run.error()).toMatchObject({ message: 'two' });
    expect(broken.run.calls('main[one[2]]')).toBe(0);
  });

  test('gives its code the same time and random number each time it runs', async () => {
    const seen: unknown[] = [];
    const { run } = await ended(async (flow) => {
      seen.push([await flow.now(), await flow.random()]);
      await flow.sleep('pause', '1h');
      seen.push((await flow.now()) - (seen[0] as number[])[0]!);
    });
    expect(run.status()).toBe('completed');
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[2]).toBeGreaterThanOrEqual(3_600_000);
  });

  test('calls through the ledger: a crash during a call does not repeat it', async () => {
    const { keys, binding } = shop();
    const { runtime, run } = await started(
      async (flow) => {
        const first = await flow.perform(pay, { cents: 1 });
        const second = await flow.perform(pay, { cents: 2 });
        await flow.step('after', () => 'ok');
        return [first.id, second.id];
      },
      { uses: [pay] },
      { bindings: [binding] },
    );
    runtime.crashAfter('main[shop.pay.2]');
    runtime.crashBefore('main[after]');
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ out: [0, 1] });
    expect(keys).toHaveLength(2);
    expect(run.effects().map(({ status }) => status)).toContain('recorded');
  });

  test('may call only the capabilities that it lists', async () => {
    const { run } = await ended(
      async (flow) => flow.perform(pay, { cents: 1 }),
      {},
      { bindings: [shop().binding] },
    );
    expect(run.error()?.message).toContain(`the flow 'main' does not list 'shop.pay' in 'uses'`);
  });

  test('undoes completed operations in reverse order when the run fails', async () => {
    const undone: unknown[] = [];
    const { run } = await ended(
      async (flow) => {
        await flow.step('reserve', () => 'r1');
        await flow.step('reserve', () => 'r2');
        await flow.step('other', () => 'o');
        throw new Fatal('broken');
      },
      { compensate: { reserve: ({ output }) => void undone.push(output) } },
    );
    expect(run.status()).toBe('failed');
    expect(undone).toEqual(['r2', 'r1']);
    expect(run.compensations().map(({ stepId, outcome }) => [stepId, outcome])).toEqual([
      ['main[reserve.2]', 'compensated'],
      ['main[reserve]', 'compensated'],
    ]);
  });

  test('undoes an operation with its own retries and time limit', async () => {
    const attempts = { reserve: 0, slow: 0, other: 0 };
    const down = (name: keyof typeof attempts) => {
      attempts[name] += 1;
      throw new Error('down');
    };
    const { run } = await ended(
      async (flow) => {
        for (const name of ['reserve', 'slow', 'other']) await flow.step(name, () => name);
        throw new Fatal('broken');
      },
      {
        compensate: {
          reserve: { undo: () => down('reserve'), retry: { maxAttempts: 5, initialMs: 1 } },
          slow: {
            undo: async () => {
              attempts.slow += 1;
              if (attempts.slow === 1) await new Promise(() => {});
            },
            retry: { maxAttempts: 2, initialMs: 1 },
            timeout: '1s',
          },
          other: () => down('other'),
        },
      },
      { patienceMs: 0 },
    );
    expect(attempts).toEqual({ reserve: 5, slow: 2, other: 3 });
    expect(run.compensations().map(({ stepId, outcome }) => [stepId, outcome])).toEqual([
      ['main[other]', 'failed'],
      ['main[slow]', 'compensated'],
      ['main[reserve]', 'failed'],
    ]);
  });

  test.each<[string, unknown, string]>([
    ['a word', 'undo', `step 'main.compensate.reserve': is a function, or { undo:`],
    [
      'no function',
      { retry: { maxAttempts: 2 } },
      `step 'main.compensate.reserve': is a function, or { undo:`,
    ],
    [
      'an unknown option',
      { undo: () => {}, retries: 2 },
      `unknown option 'retries'; use retry, timeout, undo`,
    ],
    ['no time', { undo: () => {}, timeout: 'soon' }, `step 'main.compensate.reserve': 'timeout' "soon"`],
    ['no attempts', { undo: () => {}, retry: { maxAttempts: 0 } }, 'maxAttempts'],
  ])('refuses %s to undo an operation with', (_, undo, message) => {
    expect(() => flowWorkflow(async () => null, { compensate: { reserve: undo as never } })).toThrow(message);
  });

  test.each([
    ['', 'the name of an operation is'],
    ['a b', 'the name of an operation is'],
    ['turn.2', 'ends with a number'],
  ])('refuses the name %j', async (name, message) => {
    const { run } = await ended(async (flow) => flow.step(name, () => 1));
    expect(run.error()).toMatchObject({ code: 'INVALID_INPUT' });
    expect(run.error()?.message).toContain(message);
  });

  test('refuses unknown options of an operation, and a body that is not a function', async () => {
    const wrong = await ended(async (flow) => flow.step('a', () => 1, { retries: 3 } as never));
    expect(wrong.run.error()?.message).toContain(`unknown option 'retries'`);
    const none = await ended(async (flow) => flow.step('a', undefined as never));
    expect(none.run.error()?.message).toContain(`the operation 'a' has no body`);
  });

  test('fails when its code waits too long for something that is not an operation', async () => {
    const { run } = await ended(() => new Promise(() => {}), { timeout: '2m' }, { patienceMs: 0 });
    expect(run.error()).toMatchObject({ code: 'STEP_TIMEOUT', stepId: 'main' });
  });

  test('whose code waits for something else continues with it', async () => {
    const { run } = await ended(async (flow) => {
      const read = await new Promise<number>((resolve) => setTimeout(() => resolve(7), 5));
      return flow.step('a', () => read);
    });
    expect(await run.result()).toEqual({ out: 7 });
  });

  test('fails for an output that does not match its schema or is not JSON', async () => {
    const wrong = await ended(async () => 1, { output: z.string() });
    expect(wrong.run.error()).toMatchObject({ code: 'STEP_OUTPUT_INVALID' });
    const none = await ended(async () => new Map());
    expect(none.run.error()).toMatchObject({ code: 'STEP_OUTPUT_INVALID' });
    const hrefOf = (text: string) => {
      if (!URL.canParse(text)) throw new TypeError('Invalid URL');
      return text;
    };
    const throwing = z.string().transform(hrefOf);
    const thrown = await ended(async () => 'no address', { output: throwing });
    expect(thrown.run.error()).toMatchObject({
      code: 'STEP_OUTPUT_INVALID',
      message: expect.stringContaining('Invalid URL'),
      trace: expect.stringContaining('hrefOf'),
    });
  });
});
