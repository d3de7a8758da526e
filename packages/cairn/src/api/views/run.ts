/** A run in the API: the snapshot in readable form, without the internal members of the store. */
import { sumOfSpends } from '../../core/budget/budget.ts';
import { shownAmounts } from '../../core/budget/given.ts';
import { fullCost } from '../../core/cost/cost.ts';
import { usdOf } from '../../core/cost/prices.ts';
import type { LeaseWait } from '../../core/decisions/lease-wait.ts';
import type { Json } from '../../core/encoding/json.ts';
import { isSilent, type LeaseTimes } from '../../core/recovery/lease-watch.ts';
import { UNREAD_STORED_AS } from '../../core/run/data/unread-signals.ts';
import { currentStepOf, type RunningStep, runningNow } from '../../core/run/now/running.ts';
import { waitsFor } from '../../core/run/now/waits-for.ts';
import { fromText, iso, isoIf, readableValue } from '../../core/run/readable.ts';
import { projectStatus, type Vocabulary } from '../../core/run/vocabulary.ts';
import { wakeAt } from '../../core/run/wake.ts';
import { type ListedState, listedState } from '../../core/search/listed.ts';
import { listedWaits } from '../../core/search/listing.ts';
import { stepCounts } from '../../core/search/step-counts.ts';
import type { LocatedText } from '../../engine/stored-text.ts';
import type { ListedRun, LoadedRun } from '../../ports/run-store.ts';

export type View = { readonly [name: string]: Json | undefined };

/**
 * List form of a run: input and result are only in {@link runView}, because they may be large or stored elsewhere.
 *
 * @param vocabulary for the status; nothing else is translated
 */
export function runSummary(
  { state, metadata, stepCounts, waits, waitsFor: waiting, wakeAt }: ListedRun,
  vocabulary: Vocabulary,
): View {
  const { shard, currentStep: _, ...shown } = listedState(state);
  const status = projectStatus(state, vocabulary);
  const running = runningNow(state, metadata);
  return {
    ...(readableValue(shown) as View),
    status,
    waitsFor: waiting,
    currentStep: currentStepOf({ ...state, waits: waits.first }, metadata),
    running: running.slice(0, LISTED_RUNNING).map(runningView),
    runningCount: running.length,
    ...leaseView(state, metadata),
    lastHeartbeatAt: isoIf(metadata.lastHeartbeatAt),
    wakeAt: isoIf(wakeAt),
    steps: stepCounts as View | undefined,
    waits: readableValue(waits.first),
    waitCount: waits.count,
    budget: budgetView(state),
    cost: costView(metadata),
  };
}

function runningView({ since, ...attempt }: RunningStep): View {
  return { ...attempt, since: iso(since) };
}

/** Running attempts shown in a list; `runningCount` is their number. */
const LISTED_RUNNING = 3;

/** End of the lease as last extended. The journal has only the first end, before any heartbeat. */
function leaseView({ lease }: ListedState, metadata: ListedRun['metadata']): View {
  if (!lease) return {};
  const { owner, epoch } = lease;
  return { lease: { owner, epoch, expiresAt: iso(heldUntil(lease, metadata)) } };
}

function heldUntil(
  { expiresAt }: NonNullable<ListedState['lease']>,
  { leaseExtendedTo = 0 }: ListedRun['metadata'],
): number {
  return Math.max(expiresAt, leaseExtendedTo);
}

export function leaseWaitView(
  { state: { lease }, metadata }: Pick<LoadedRun, 'state' | 'metadata'>,
  wait: LeaseWait | undefined,
): View | undefined {
  if (!lease || !wait) return undefined;
  return { until: iso(heldUntil(lease, metadata)), steps: [...wait.steps], why: wait.why };
}

/** Undefined: no worker holds the run, or its worker sends heartbeats. */
export function silentSinceView(
  { state: { lease }, metadata: { lastHeartbeatAt }, readAt }: LoadedRun,
  times: Pick<LeaseTimes, 'heartbeatMs'>,
): string | undefined {
  if (!lease || lastHeartbeatAt === undefined) return undefined;
  return isSilent(readAt, lastHeartbeatAt, times) ? iso(lastHeartbeatAt) : undefined;
}

/** Amounts in US dollars, and one sum of the reservations. */
function budgetView({ budget }: ListedState): View | undefined {
  if (!budget) return undefined;
  const { limits, spent, reserved, askedMs } = budget;
  return {
    limits: shownAmounts(limits) as View,
    spent: shownAmounts(spent) as View,
    reserved: shownAmounts(sumOfSpends(reserved)) as View,
    askedMs,
  };
}

function costView(metadata: ListedRun['metadata']): View {
  const cost = fullCost(metadata.cost);
  return { ...cost, usd: usdOf(cost) };
}

export function runView(
  run: Pick<LoadedRun, 'state' | 'metadata'>,
  { input, result }: { readonly input: LocatedText; readonly result: LocatedText | undefined },
  vocabulary: Vocabulary,
): View {
  const { state, metadata } = run;
  const { input: _, result: __, secretInput, steps, unread, shard, currentStep: ___, ...shown } = state;
  const listed = {
    state,
    metadata,
    stepCounts: stepCounts(steps),
    waits: listedWaits(state.waits),
    waitsFor: waitsFor(state),
    wakeAt: wakeAt(state, metadata),
  };
  return {
    ...(readableValue(shown) as View),
    ...runSummary(listed, vocabulary),
    ...(state.error && { error: readableValue(state.error) }),
    waits: readableValue(state.waits),
    [UNREAD_STORED_AS]: readableValue(unread),
    running: runningNow(state, metadata).map(runningView),
    ...progressView(run),
    ...logsView(run),
    ...valueView('input', input),
    ...(result && valueView('result', result)),
  };
}

function logsView({ metadata: { logs } }: Pick<LoadedRun, 'metadata'>): View {
  return logs && logs.lines + logs.dropped > 0 ? { logs: { lines: logs.lines, dropped: logs.dropped } } : {};
}

/** Progress of a worker that no longer holds the run is not shown. */
function progressView({ state, metadata }: Pick<LoadedRun, 'state' | 'metadata'>): View {
  return state.lease && metadata.inFlight?.length ? { progress: readableValue(metadata.inFlight) } : {};
}

/** The value itself, or where it can be read: `resultRef: { checkpoint, sha256, … }`, at `…/checkpoints/{seq}/output`. */
function valueView(name: string, value: LocatedText): View {
  if ('text' in value) return { [name]: fromText(value.text) };
  return { [`${name}Ref`]: { checkpoint: value.checkpoint, ...value.ref } };
}
