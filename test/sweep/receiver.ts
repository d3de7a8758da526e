/**
 * The receiver of side effects in a performance. It outlives the processes and acts on the requests that reach it. Its own
 * count of actions judges the ledger.
 *
 * Must not: be reached except through bindings.
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

/** The part of a capability that determines its handling by the ledger. */
export interface Nature {
  readonly sideEffects: SideEffects;
  readonly idempotency: Idempotency;
  readonly replayPolicy: ReplayPolicy;
  readonly withLookup?: boolean;
  readonly requiresConfirmation?: boolean;
}

export interface Asked {
  readonly what: string;
}

export interface Done {
  readonly id: string;
}

export interface Action {
  readonly capabilityId: string;
  readonly key: string;
  readonly what: string;
}

export class Receiver {
  readonly applied: Action[] = [];
  /** Requests refused the first time. */
  readonly refusesOnce = new Set<string>();

  /** Acts. A receiver that dedupes answers a repetition with the same key without acting again. */
  act(action: Action, dedupes: boolean): Done {
    if (this.refusesOnce.delete(action.what)) throw new NotApplied(`not now: ${action.what}`);
    const before = dedupes && this.#find(action);
    if (!before) this.applied.push(action);
    return { id: action.what };
  }

  look(action: Action): { found: true; response: Done } | { found: false } {
    return this.#find(action) ? { found: true, response: { id: action.what } } : { found: false };
  }

  hasActed(key: string): boolean {
    return this.applied.some((action) => action.key === key);
  }

  #find({ capabilityId, key }: Action): Action | undefined {
    return this.applied.find((one) => one.capabilityId === capabilityId && one.key === key);
  }
}

export interface Bound {
  readonly capability: Capability<Asked, Done>;
  readonly bind: (receiver: Receiver) => Binding;
}

/** A capability of that nature with its binding to a receiver. By default it acts externally and ignores idempotency keys. */
export function posting(nature: Partial<Nature> = {}): Bound {
  const id = 'post.send';
  const { withLookup = false, ...how }: Nature = {
    sideEffects: 'external_action',
    idempotency: 'not_supported',
    replayPolicy: 'use_recorded_result',
    ...nature,
  };
  const capability = defineCapability<Asked, Done>({
    id,
    ...how,
    request: z.object({ what: z.string() }),
    response: z.object({ id: z.string() }),
  });
  const leavesTrace = how.sideEffects === 'write' || how.sideEffects === 'external_action';
  const bind = (receiver: Receiver) =>
    defineBinding(capability, {
      id: `${id}.receiver`,
      call: async ({ what }, { idempotencyKey: key }) =>
        leavesTrace
          ? receiver.act({ capabilityId: id, key, what }, how.idempotency === 'required')
          : { id: what },
      ...(withLookup
        ? {
            lookup: async ({ what }, { idempotencyKey: key }) =>
              receiver.look({ capabilityId: id, key, what }),
          }
        : {}),
    });
  return { capability, bind };
}
