/**
 * The part of a list's row that is derived from data that grows with a run: step counts and the first waits. Written with every
 * snapshot, so that lists read neither the steps, of which thousands may be in pages, nor the waits, which take up to 512 KiB.
 * Pure.
 */
import type { Wait } from '../run/events.ts';
import { fromText } from '../run/readable.ts';
import { cut } from '../run/records.ts';
import type { RunState } from '../run/state.ts';
import { type StepCounts, stepCounts } from './step-counts.ts';

/** Waits shown in a list, without the schemas of their data; `count` is their total number. */
const LISTED_WAITS = 3;
/** Characters of a question, as JSON; longer ones are truncated. */
const LISTED_DETAIL_CHARS = 1_000;

export interface ListedWaits {
  readonly count: number;
  readonly first: readonly Wait[];
}

/** As it is stored: one of another head was left by a version of Cairn that does not write it. */
export interface StoredListing {
  readonly head: number;
  readonly steps: StepCounts;
  readonly waits: ListedWaits;
}

export function listedWaits(waits: readonly Wait[]): ListedWaits {
  return { count: waits.length, first: waits.slice(0, LISTED_WAITS).map(listedWait) };
}

export function storedListing({
  head,
  steps,
  waits,
}: Pick<RunState, 'head' | 'steps' | 'waits'>): StoredListing {
  return { head, steps: stepCounts(steps), waits: listedWaits(waits) };
}

function listedWait(given: Wait): Wait {
  const { dataSchemaText: _, ...wait } = given;
  const { detailText } = wait;
  if (detailText === undefined || detailText.length <= LISTED_DETAIL_CHARS) return wait;
  const detail = fromText(detailText);
  const { question } = Object(detail) as { readonly question?: unknown };
  const text = typeof question === 'string' ? question : JSON.stringify(question ?? detail);
  return { ...wait, detailText: JSON.stringify({ question: cut(text, LISTED_DETAIL_CHARS) }) };
}
