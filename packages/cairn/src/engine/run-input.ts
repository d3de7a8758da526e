/** The input of a run, wherever it is kept, as step bodies see it. */

import type { RunState } from '../core/run/state.ts';
import type { RunStore } from '../ports/run-store.ts';
import { parseFrozen } from './facts/output.ts';
import { storedText } from './stored-text.ts';

/** Parsed and frozen. */
export async function runInput(store: RunStore, state: RunState): Promise<unknown> {
  return parseFrozen(await storedText(store, state.id, state.input));
}
