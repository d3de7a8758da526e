/** Reads the input of a run, wherever it is kept. */
import type { RunState } from '../core/run/state.ts';
import type { RunStore } from '../ports/run-store.ts';
import { parseFrozen } from './drive/outputs.ts';

/** Canonical JSON text of a value kept in the snapshot or in one of the run's checkpoints. */
export async function storedText(store: RunStore, runId: string, value: RunState['input']): Promise<string> {
  if ('text' in value) return value.text;
  const [checkpoint] = await store.readCheckpoints(runId, [value.checkpoint]);
  if (checkpoint?.outputText === undefined) {
    throw new Error(`run ${runId}: checkpoint ${value.checkpoint} carries no value`);
  }
  return checkpoint.outputText;
}

/** The input as step bodies see it: parsed and frozen. */
export async function runInput(store: RunStore, state: RunState): Promise<unknown> {
  return parseFrozen(await storedText(store, state.id, state.input));
}
