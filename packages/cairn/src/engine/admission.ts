/**
 * Admission control: decides whether operators allow a run to be driven now, by the kill switch, the pause after a restore, and the
 * pause of its workflow.
 * Defers a run that may not be driven, without a lost task and without an append.
 *
 * Must not: decide whether there is anything to drive.
 */
import { claimDecision } from '../core/decisions/claim.ts';
import { declaredType } from '../core/flow/parts.ts';
import type { RunState } from '../core/run/state.ts';
import { isTerminal } from '../core/run/status.ts';
import { wakeAt } from '../core/run/wake.ts';
import type { LoadedRun } from '../ports/run-store.ts';
import type { RuntimeConfig } from '../ports/runtime-config.ts';
import { observationOf } from './definition-of-run.ts';
import type { EngineDeps } from './deps.ts';

/** Maximum age of the cached configuration: for this long after a switch is changed, dispatches may still start or continue. */
export const CONFIG_AGE_MS = 3_000;
/** Longest time until a deferred run is checked again, which bounds the delay of a lost wake-up. */
export const DEFER_MS = 5 * 60_000;
/** Jitter as a fraction of {@link DEFER_MS}, so that runs deferred together do not continue together. */
const JITTER = 0.2;

type AdmissionDeps = Pick<EngineDeps, 'runtime'>;
type DrivenRun = Pick<RunState, 'type' | 'status'>;

/** The reason why no run may be driven and nothing may be deleted. */
export type Stop = 'kill_switch' | 'restored';

/** Undefined if runs may be driven. */
export function stoppedBy({ killSwitch, restore }: RuntimeConfig): Stop | undefined {
  if (killSwitch) return 'kill_switch';
  return restore?.isPaused ? 'restored' : undefined;
}

/** The reason why a run may not be driven; undefined: it may. */
export function pausedBy(config: RuntimeConfig, run: DrivenRun): Stop | 'paused' | undefined {
  const stopped = stoppedBy(config);
  if (stopped) return stopped;
  const { paused } = config;
  // A paused workflow does not hold back the completion duties of an ended run.
  return paused.has(declaredType(run.type)) && !isTerminal(run.status) ? 'paused' : undefined;
}

/**
 * Every dispatch calls this before it acts. A refusal is verified by a fresh read, because a stale configuration must not defer
 * a run for minutes.
 *
 * @throws OutcomeUnknown and other read errors; the task is then retried
 */
export async function mayDrive({ runtime }: AdmissionDeps, run: DrivenRun): Promise<boolean> {
  if (!pausedBy(await runtime.current(CONFIG_AGE_MS), run)) return true;
  return !pausedBy(await runtime.current(0), run);
}

/** A running dispatch calls this at each heartbeat. Never rejects, because a read error must not stop started work. */
export async function mayContinue(
  deps: AdmissionDeps & Pick<EngineDeps, 'log'>,
  run: DrivenRun,
): Promise<boolean> {
  try {
    return await mayDrive(deps, run);
  } catch (error) {
    deps.log.warn('runtime_config_unread', { error });
    return true;
  }
}

/** When a run that is deferred now is checked again, epoch ms. */
export function deferredUntil({ clock, random }: Pick<EngineDeps, 'clock' | 'random'>): number {
  return clock.now() + Math.round(DEFER_MS * (1 - JITTER * random.unit()));
}

/**
 * Defers a run that may not be dispatched: it is scanned again in up to five minutes, or when it is due if that is
 * later. Leased runs and settled runs are left alone.
 */
export async function deferRun(deps: EngineDeps, loaded: LoadedRun): Promise<void> {
  const { store, clock, random, log } = deps;
  const { state, metadata, snapshotVersion } = loaded;
  const dueAt = wakeAt(state, metadata);
  if (dueAt === undefined) return;
  if (claimDecision(observationOf(deps, loaded)).kind === 'leased') return;
  const retryAt = deferredUntil({ clock, random });
  // A stale touch is ignored: another process has changed the run and its `wakeAt`.
  await store.touch({ runId: state.id, seen: snapshotVersion, wakeAt: Math.max(dueAt, retryAt) });
  log.debug('run_deferred', { runId: state.id, type: state.type });
}
