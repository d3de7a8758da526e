/**
 * The input of a run as step bodies see it, wherever it is stored. People see it without its secret members. A step with
 * `reads` sees only those members, so that a successor with a different input can reuse the step if they are unchanged.
 */

import { sha256Hex } from '../core/encoding/hash.ts';
import { canonicalJson, type Json } from '../core/encoding/json.ts';
import { isRecord } from '../core/is-record.ts';
import type { RunState } from '../core/run/state.ts';
import { secretsBetween } from '../core/secrets/mask.ts';
import type { RunStore } from '../ports/run-store.ts';
import type { StepDefinition } from './define/steps.ts';
import { parseFrozen } from './recording/output.ts';
import { storedText } from './stored-text.ts';

/** Parsed and frozen, with its secret members. */
export async function runInput(store: RunStore, state: RunState): Promise<unknown> {
  const { id, input, secretInput } = state;
  if (!secretInput) return parseFrozen(await storedText(store, id, input));
  return (parseFrozen(await store.readPayload(secretInput.runId, secretInput)) as Salted).input;
}

/** Secret texts of the input, longest first; none if it has no secret members. */
export async function inputSecrets(store: RunStore, state: RunState): Promise<readonly string[]> {
  if (!state.secretInput) return [];
  const [input, readable] = await Promise.all([
    runInput(store, state),
    storedText(store, state.id, state.input),
  ]);
  return secretsBetween(input, JSON.parse(readable));
}

interface Salted {
  readonly input: unknown;
  readonly salt: string;
}

/**
 * The stored text of an input with secret members. The journal has its hash, from which short secrets could be guessed without
 * the salt.
 */
export function saltedText(inputText: string, salt: string): string {
  return `{"input":${inputText},"salt":${JSON.stringify(salt)}}`;
}

type Reader = Pick<StepDefinition, 'id' | 'reads'>;

/** The frozen input of a step. Reading an undeclared member throws, because an unexpected undefined would be harder to find. */
export function inputSeenBy({ id, reads }: Reader, input: unknown): unknown {
  if (reads === undefined || !isRecord(input)) return input;
  const own = Object.freeze(picked(reads, input));
  return new Proxy(own, {
    get(target, name, receiver) {
      if (typeof name === 'string' && !Object.hasOwn(own, name) && Object.hasOwn(input, name)) {
        throw new Error(`step '${id}' does not list '${name}' in 'reads'`);
      }
      return Reflect.get(target, name, receiver);
    },
  });
}

/** Input hash for the fingerprint of a step's inputs. */
export function inputHashSeenBy({ reads }: Reader, input: unknown, inputHash: string): string {
  return reads === undefined || !isRecord(input)
    ? inputHash
    : sha256Hex(canonicalJson(picked(reads, input) as Json));
}

type InputMembers = Readonly<Record<string, unknown>>;

function picked(reads: readonly string[], input: InputMembers): InputMembers {
  return Object.fromEntries(
    reads.filter((name) => Object.hasOwn(input, name)).map((name) => [name, input[name]]),
  );
}
