/**
 * A fake external service that records its effects, for tests of effects. It can refuse, lose its answer or hang, once or always, and
 * deduplicates by key only if configured.
 */
import { z } from 'zod';
import type { Idempotency, ReplayPolicy, SideEffects } from '../../packages/cairn/src/core/effects/effect.ts';
import { NotApplied } from '../../packages/cairn/src/core/errors.ts';
import {
  type Binding,
  type Capability,
  defineBinding,
  defineCapability,
} from '../../packages/cairn/src/engine/define/capability.ts';

export interface Sent {
  readonly text: string;
}

/** Fault of one call. */
export type Fault = 'refuse' | 'refuse_for_good' | 'lose_answer' | 'fail_before' | 'hang';

export interface OutsideOptions {
  readonly sideEffects?: SideEffects;
  readonly idempotency?: Idempotency;
  readonly replayPolicy?: ReplayPolicy;
  readonly withLookup?: boolean;
  readonly requiresConfirmation?: boolean;
  readonly id?: string;
}

export class Outside {
  readonly capability: Capability<Sent, { readonly id: number }>;
  readonly binding: Binding;
  /** Applied effects, in order. */
  readonly applied: { readonly key: string; readonly text: string }[] = [];
  /** Number of received calls, including failed ones. */
  calls = 0;
  lookups = 0;
  /** Faults of the next calls, in order. */
  readonly faults: (Fault | undefined)[] = [];
  onCall: (key: string) => void | Promise<void> = () => {};
  onLookUp: () => void = () => {};
  readonly #dedupes: boolean;

  constructor(options: OutsideOptions = {}) {
    const { sideEffects = 'external_action', idempotency = 'not_supported', id = 'post.send' } = options;
    const {
      replayPolicy = 'use_recorded_result',
      withLookup = false,
      requiresConfirmation = false,
    } = options;
    this.#dedupes = idempotency === 'required';
    this.capability = defineCapability({
      id,
      sideEffects,
      idempotency,
      replayPolicy,
      requiresConfirmation,
      request: z.object({ text: z.string() }),
      response: z.object({ id: z.number() }),
    });
    this.binding = defineBinding(this.capability, {
      id: `${id}.pretended`,
      call: ({ text }, { idempotencyKey, signal }) => this.#call(text, idempotencyKey, signal),
      ...(withLookup ? { lookup: async (_request, { idempotencyKey }) => this.#lookUp(idempotencyKey) } : {}),
    });
  }

  /** Keys with more than one applied effect. */
  get twice(): string[] {
    const keys = this.applied.map(({ key }) => key);
    return keys.filter((key, at) => keys.indexOf(key) !== at);
  }

  async #call(text: string, key: string, signal: AbortSignal): Promise<{ id: number }> {
    this.calls += 1;
    await this.onCall(key);
    const fault = this.faults.shift();
    if (fault === 'refuse') throw new NotApplied('come back later');
    if (fault === 'refuse_for_good') throw new NotApplied('never', { final: true });
    if (fault === 'fail_before') throw new Error('the line went dead');
    const before = this.#dedupes ? this.applied.findIndex((one) => one.key === key) : -1;
    if (before < 0) this.applied.push({ key, text });
    const id = before < 0 ? this.applied.length : before + 1;
    if (fault === 'lose_answer') throw new Error('the answer was lost');
    if (fault === 'hang')
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    return { id };
  }

  #lookUp(key: string) {
    this.lookups += 1;
    this.onLookUp();
    const at = this.applied.findIndex((one) => one.key === key);
    return at < 0 ? { found: false as const } : { found: true as const, response: { id: at + 1 } };
  }
}
