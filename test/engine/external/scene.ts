/** Processes that call `effects.once` over one memory database and one receiver, and die where a test wants it. */
import { z } from 'zod';
import { DEFAULT_RETRY } from '../../../packages/cairn/src/core/decisions/retry.ts';
import type { EffectRecord, Resolution } from '../../../packages/cairn/src/core/effects/effect.ts';
import { optional } from '../../../packages/cairn/src/core/optional.ts';
import type { RestoreMark } from '../../../packages/cairn/src/core/recovery/restored.ts';
import { Bindings } from '../../../packages/cairn/src/engine/define/bindings.ts';
import {
  type BindingOptions,
  type CapabilityOptions,
  defineBinding,
  defineCapability,
} from '../../../packages/cairn/src/engine/define/capability.ts';
import {
  ExternalEffects,
  type OnceRequest,
} from '../../../packages/cairn/src/engine/external/external-effects.ts';
import { resolveExternal } from '../../../packages/cairn/src/operations/effects/external.ts';
import type { EffectMetric } from '../../../packages/cairn/src/ports/metrics.ts';
import type { ExternalEffectStore } from '../../../packages/cairn/src/ports/runs/effect-store.ts';
import { NOTHING_SET } from '../../../packages/cairn/src/ports/runtime-config.ts';
import { CrashPlan } from '../../../packages/cairn/src/testing/world/crash-plan.ts';
import { mortal } from '../../support/mortal.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';

interface Payment {
  readonly cents: number;
}
interface Paid {
  readonly id: string;
}

/** The way in which the receiver can be asked again. */
export type Kind = 'lookup' | 'required' | 'ask';
export const KINDS: readonly Kind[] = ['lookup', 'required', 'ask'];

export const CALL_MS = 60_000;

export class Scene {
  readonly world = new World({ workflows: [] });
  readonly clock = this.world.clock;
  readonly effects = this.world.effects;
  /** Set once the database was restored. */
  restore: RestoreMark | undefined;
  /** Time for which rows are kept, ms. */
  keepMs: number | undefined;
  readonly outcomes: EffectMetric['outcome'][] = [];
  /** Actions of the receiver, by idempotency key if it knows one. */
  readonly done: string[] = [];
  readonly #byKey = new Map<string, Paid>();
  #processes = 0;
  readonly kind: Kind;
  readonly capability;
  /** Replaces the behaviour of the receiver. */
  answer: BindingOptions<Payment, Paid>['call'] | undefined;

  constructor(kind: Kind = 'ask', more: Partial<CapabilityOptions<Payment, Paid>> = {}) {
    this.kind = kind;
    this.capability = defineCapability<Payment, Paid>({
      id: 'bank.pay',
      sideEffects: 'external_action',
      idempotency: kind === 'required' ? 'required' : 'not_supported',
      request: z.object({ cents: z.number() }),
      response: z.object({ id: z.string() }),
      ...more,
    });
  }

  /** A process that dies at the planned point, and never answers afterwards. */
  process(plan = new CrashPlan()): ExternalEffects {
    const binding = defineBinding(this.capability, {
      id: 'bank',
      call: (request, options) => this.#pay(request, options),
      ...(this.kind === 'lookup' && {
        lookup: async (_: Payment, { idempotencyKey }: { idempotencyKey: string }) => {
          const response = this.#byKey.get(idempotencyKey);
          return response ? { found: true as const, response } : { found: false as const };
        },
      }),
    });
    const runtime = { current: async () => ({ ...NOTHING_SET, ...optional('restore', this.restore) }) };
    const base = { ...this.world.deps, runtime, bindings: new Bindings([binding]) };
    this.#processes += 1;
    const process = mortal(base, this.#processes, { plan, onDeath: () => process.kill() });
    const { deps } = process;
    const ledger = { ...deps, effects: deps.effects as ExternalEffectStore };
    const settings = { callTimeoutMs: CALL_MS, retry: DEFAULT_RETRY, keepMs: this.keepMs };
    const metrics = { effect: ({ outcome }: EffectMetric) => void this.outcomes.push(outcome) };
    return new ExternalEffects({ ledger, runtime: deps.runtime, bindings: deps.bindings, metrics }, settings);
  }

  once(effects: ExternalEffects, more: Partial<OnceRequest> = {}): Promise<unknown> {
    const plain = { tenantId: 't1', key: 'order-7', capability: this.capability, request: { cents: 5 } };
    const signal = new AbortController().signal;
    const result = effects.once({ ...plain, signal, ...more } as OnceRequest);
    // The test awaits the result if it needs it. The result of a dead process never settles.
    result.catch(() => {});
    return result;
  }

  /** Advances time until the promise settles, or until nothing can settle it any more. */
  async until<T>(promise: Promise<T>, limitMs = 10 * CALL_MS): Promise<PromiseSettledResult<T> | 'stuck'> {
    const limit = this.clock.now() + limitMs;
    let settled: PromiseSettledResult<T> | undefined;
    promise.then(
      (value) => {
        settled = { status: 'fulfilled', value };
      },
      (reason) => {
        settled = { status: 'rejected', reason };
      },
    );
    for (;;) {
      await settle();
      if (settled) return settled;
      if (!this.clock.fireNext(limit)) return 'stuck';
    }
  }

  /** The open questions to a person. */
  async openQuestions(tenantId = 't1') {
    return (await this.effects.asking(tenantId, this.clock.now(), 10)).items;
  }

  /** A person states the outcome of the row. */
  resolve({ effectId, runId, tenantId }: EffectRecord, outcome: Resolution) {
    const { deps } = this.world;
    const bindings = new Bindings([]);
    const request = { effectId, runId, tenantId, outcome, actor: 'c.ann' };
    return resolveExternal({ ...deps, effects: this.effects, bindings }, request);
  }

  async #pay(request: Payment, options: Parameters<BindingOptions<Payment, Paid>['call']>[1]): Promise<Paid> {
    if (this.answer) return this.answer(request, options);
    const known = this.#byKey.get(options.idempotencyKey);
    if (known && this.kind === 'required') return known;
    const paid = { id: `pay_${this.done.length + 1}` };
    this.done.push(options.idempotencyKey);
    this.#byKey.set(options.idempotencyKey, paid);
    return paid;
  }
}
