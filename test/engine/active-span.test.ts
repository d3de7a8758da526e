/** Spans that the instrumentation of a user opens inside bodies and bindings are children of the installation's own. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, expect, test } from '@jest/globals';
import { type Context, type ContextManager, context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { z } from 'zod';
import { defineBinding, defineCapability } from '../../packages/cairn/src/engine/define/capability.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { CollectedSpans } from '../support/collected-spans.ts';
import { World } from '../support/world.ts';

/** A context manager like that of OpenTelemetry's SDK in Node. */
class AsyncContexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    active: Context,
    work: F,
    self?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(active, () => Reflect.apply(work, self, args));
  }

  bind<T>(_: Context, target: T): T {
    return target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    return this;
  }
}

afterEach(() => context.disable());

const post = defineCapability({
  id: 'board.post',
  sideEffects: 'external_action',
  idempotency: 'required',
  request: z.object({}),
  response: z.object({}),
});

/** Runs a step with an effect, and returns the spans that were active inside its body, and inside the binding. */
async function activeInside() {
  const spans = new CollectedSpans();
  const seen: Record<string, string | undefined> = {};
  const note = (where: string) => {
    seen[where] = trace.getSpanContext(context.active())?.spanId;
  };
  const posting = defineBinding(post, {
    id: 'board.post.here',
    async call() {
      await Promise.resolve();
      note('binding');
      return {};
    },
  });
  const poster = defineWorkflow({
    type: 'poster',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      posted: step('post', { uses: [post] }, async ({ perform }) => {
        await perform(post, {});
        note('body');
      }),
    }),
  });
  const world = new World({
    workflows: [poster],
    bindings: [posting],
    tracerBy: (clock) => spans.tracerBy(clock),
  });
  await world.start('poster');
  await world.run();
  return { seen, idOf: (name: string) => spans.named(name)[0]?.context.spanId };
}

test('the span of the step is active in its body, that of the call in the binding', async () => {
  context.setGlobalContextManager(new AsyncContexts());
  const { seen, idOf } = await activeInside();
  expect(seen).toEqual({ body: idOf('step post'), binding: idOf('call board.post.here') });
  expect(seen.body).toMatch(/^[0-9a-f]{16}$/);
});

test('no span is active where no instrumentation is registered', async () => {
  const { seen } = await activeInside();
  expect(seen).toEqual({ body: undefined, binding: undefined });
});
