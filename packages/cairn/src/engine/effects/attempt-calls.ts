/**
 * The effect calls of one attempt. Owns the identity of a call: its key, or its number among the attempt's calls of the
 * capability. The identity is the same in every attempt, so that the ledger finds the row of an earlier one.
 *
 * Must not: make a call.
 */
import { CairnError, invalidInput } from '../../core/errors.ts';

const MAX_CALL_KEY_CHARS = 200;

interface NewCall {
  readonly capabilityId: string;
  /** The author's own key; undefined: the call is numbered. */
  readonly key: string | undefined;
  readonly requestHash: string;
  readonly stepId: string;
}

interface KnownCall {
  readonly requestHash: string;
  readonly end: Promise<unknown>;
}

export class AttemptCalls {
  readonly #known = new Map<string, KnownCall>();
  readonly #numbers = new Map<string, number>();
  /** Capabilities with a numbered call under way. */
  readonly #numbered = new Set<string>();

  /**
   * Returns the result of the call with this key; starts it with `act` if there is none.
   *
   * @throws CairnError INVALID_INPUT, EFFECT_REQUEST_MISMATCH
   */
  call(given: NewCall, act: (call: string | number) => Promise<unknown>): Promise<unknown> {
    const { capabilityId, key, requestHash, stepId } = given;
    const call = key === undefined ? this.#nextNumber(capabilityId) : checkedKey(key);
    const name = `${capabilityId} ${typeof call}:${call}`;
    const known = this.#known.get(name);
    if (!known) {
      const end = typeof call === 'number' ? this.#alone(capabilityId, () => act(call)) : act(call);
      this.#known.set(name, { requestHash, end });
      return end;
    }
    if (known.requestHash === requestHash) return known.end;
    const what = `'${capabilityId}' was called with two different requests under one key`;
    throw new CairnError('EFFECT_REQUEST_MISMATCH', what, { stepId });
  }

  #nextNumber(capabilityId: string): number {
    if (this.#numbered.has(capabilityId)) {
      throw invalidInput('key', `concurrent calls of '${capabilityId}' need keys`, {
        help: `Give each call a key that is the same in every attempt: perform(capability, request, { key }).`,
      });
    }
    const number = (this.#numbers.get(capabilityId) ?? 0) + 1;
    this.#numbers.set(capabilityId, number);
    return number;
  }

  async #alone(capabilityId: string, act: () => Promise<unknown>): Promise<unknown> {
    this.#numbered.add(capabilityId);
    try {
      return await act();
    } finally {
      this.#numbered.delete(capabilityId);
    }
  }
}

function checkedKey(key: string): string {
  const isText = typeof key === 'string' && key !== '' && key.isWellFormed();
  if (isText && key.length <= MAX_CALL_KEY_CHARS) return key;
  const what = `the key of a call must be 1 to ${MAX_CALL_KEY_CHARS} characters`;
  throw invalidInput('key', what);
}
