/** Pages over the memos of a step, in the form for people: secret members of the input are masked. */
import type { Json } from '../core/encoding/json.ts';
import { runningNow } from '../core/run/now/running.ts';
import { fromText } from '../core/run/readable.ts';
import { undoMemoKey } from '../core/run/state.ts';
import { maskOf, maskValue } from '../core/secrets/mask.ts';
import { inputSecrets } from '../engine/run-input.ts';
import type { LoadedRun, Page, PageRequest, RunStore } from '../ports/run-store.ts';

/** A memo of a step, or of its compensation. */
interface ShownMemo {
  readonly name: string;
  readonly value: Json;
  /** Epoch ms. */
  readonly recordedAt: number;
}

interface MemoQuery {
  readonly step: string;
  /** Default: the current revision of the step. */
  readonly revision: number | undefined;
  /** Lists the memos of the step's compensation instead. */
  readonly undoes: boolean;
  readonly page: PageRequest;
}

/** Empty for a step that has not started. */
export async function listMemos(
  store: RunStore,
  { state, metadata }: Pick<LoadedRun, 'state' | 'metadata'>,
  { step, revision, undoes, page }: MemoQuery,
): Promise<Page<ShownMemo> & { readonly revision: number }> {
  const newest =
    state.steps.get(step)?.revision ??
    runningNow(state, metadata).find((running) => running.step === step)?.revision;
  if (newest === undefined) return { revision: revision ?? 1, items: [] };
  const of = { step: undoes ? undoMemoKey(step) : step, revision: revision ?? newest };
  const [{ items, ...more }, secrets] = await Promise.all([
    store.listMemos(state.id, of, page),
    inputSecrets(store, state),
  ]);
  const mask = maskOf(secrets);
  const shown = items.map(({ name, text, recordedAt }) => {
    const value = fromText(text);
    if (!mask) return { name, value, recordedAt };
    return { name: mask(name), value: maskValue(value, mask), recordedAt };
  });
  return { ...more, revision: of.revision, items: shown };
}
