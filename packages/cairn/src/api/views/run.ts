/** A run as callers see it: the snapshot in readable form, without what is internal to the store. */
import { costOf } from '../../core/cost/cost.ts';
import { usdOf } from '../../core/cost/prices.ts';
import type { Json } from '../../core/encoding/json.ts';
import { type RunState, type SoftState, SUCCESS_OUTCOMES } from '../../core/run/state.ts';
import { projectStatus, type Vocabulary } from '../../core/run/vocabulary.ts';
import { wakeAt } from '../../core/run/wake.ts';
import type { Located } from '../../engine/stored-text.ts';
import type { ListedRun } from '../../ports/run-store.ts';
import { fromText, iso, isoIf, readable } from './values.ts';

export type View = { readonly [name: string]: Json | undefined };

/**
 * As it stands in lists: input and result are left to {@link runView}, since they may be large or lie elsewhere.
 *
 * @param vocabulary of the status; nothing else of a run is translated
 */
export function runSummary({ state, soft }: ListedRun, vocabulary: Vocabulary): View {
  const { input, result, steps, shard, ...shown } = state;
  const status = projectStatus(state, vocabulary);
  return {
    ...(readable(shown) as View),
    status,
    ...leaseView(state, soft),
    lastHeartbeatAt: isoIf(soft.lastHeartbeatAt),
    wakeAt: isoIf(wakeAt(state, soft)),
    steps: stepCounts(steps.values()),
    cost: costView(soft),
  };
}

/** Until when it holds as its drive has last extended it: what the journal says of it is old after the first sign of life. */
function leaseView({ lease }: RunState, { leaseExtendedTo = 0 }: SoftState): View {
  if (!lease) return {};
  const { owner, epoch, expiresAt } = lease;
  return { lease: { owner, epoch, expiresAt: iso(Math.max(expiresAt, leaseExtendedTo)) } };
}

function costView({ cost: spent }: SoftState): View {
  const cost = costOf(spent);
  return { ...cost, usd: usdOf(cost) };
}

export interface RunValues {
  readonly input: Located;
  readonly result: Located | undefined;
}

export function runView(run: ListedRun, { input, result }: RunValues, vocabulary: Vocabulary): View {
  return {
    ...runSummary(run, vocabulary),
    ...progressView(run),
    ...valueView('input', input),
    ...(result && valueView('result', result)),
  };
}

/** What is left of a drive that has ended says nothing of what goes on now. */
function progressView({ state, soft }: ListedRun): View {
  return state.lease && soft.inFlight?.length ? { progress: readable(soft.inFlight) } : {};
}

/** The value itself, or where it can be read: `resultRef: { checkpoint, sha256, … }`, at `…/checkpoints/{seq}/output`. */
function valueView(name: string, value: Located): View {
  if ('text' in value) return { [name]: fromText(value.text) };
  return { [`${name}Ref`]: { checkpoint: value.checkpoint, ...value.ref } };
}

/** How many steps stand where; each step is at `/v1/runs/{id}/steps`. */
function stepCounts(
  steps: Iterable<RunState['steps'] extends { values(): Iterable<infer S> } ? S : never>,
): View {
  const counts: Record<string, number> = { begun: 0, running: 0, retrying: 0, waiting: 0, failed: 0 };
  for (const outcome of SUCCESS_OUTCOMES) counts[outcome] = 0;
  for (const step of steps) {
    const where = step.phase === 'done' ? step.outcome : step.phase;
    counts[where] = (counts[where] ?? 0) + 1;
    counts.begun = (counts.begun ?? 0) + 1;
  }
  return counts;
}
