/** The input of a run, wherever it is kept, as step bodies see it: people see it without its secret members. */

import type { RunState } from '../core/run/state.ts';
import { secretsBetween } from '../core/secrets/mask.ts';
import type { RunStore } from '../ports/run-store.ts';
import { parseFrozen } from './facts/output.ts';
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
 * The text of an input with secret members, as it is kept. The journal names it by its hash, from which short secrets could be
 * guessed without the salt.
 */
export function saltedText(inputText: string, salt: string): string {
  return `{"input":${inputText},"salt":${JSON.stringify(salt)}}`;
}
