/**
 * Records a heartbeat of a scheduled function at its end, whatever its result.
 *
 * Must not: fail the function because of the heartbeat, or hide its error.
 */
import { messageOf } from '../../core/thrown.ts';
import type { Clock } from '../../ports/clock.ts';
import {
  type Heartbeat,
  type HeartbeatStore,
  MAX_HEARTBEAT_ERROR_CHARS,
  type SampleFound,
  type ScheduledFunction,
} from '../../ports/diagnosis/heartbeats.ts';
import type { Log } from '../../ports/log.ts';

export interface HeartbeatDeps {
  readonly heartbeats: HeartbeatStore;
  readonly clock: Clock;
  readonly log: Log;
  /** The name of this installation, unique in the project. */
  readonly installation: string;
}

/** Report of a scheduled function about its run. */
interface WorkResult {
  /** The kill switch is on, and the function did nothing. */
  readonly off?: boolean;
  readonly found?: Omit<SampleFound, 'at'>;
}

/** @throws errors of the work */
export async function withHeartbeat(
  deps: HeartbeatDeps,
  name: ScheduledFunction,
  work: () => Promise<WorkResult>,
): Promise<void> {
  const begunAt = deps.clock.now();
  const ended = (outcome: Heartbeat['outcome'], error?: string): Heartbeat => {
    const at = deps.clock.now();
    return { at, tookMs: Math.max(0, at - begunAt), outcome, error };
  };
  try {
    const { off = false, found } = await work();
    const heartbeat = ended(off ? 'off' : 'done');
    await note(deps, name, heartbeat, found && { at: heartbeat.at, ...found });
  } catch (error) {
    const message = messageOf(error);
    await note(deps, name, ended('failed', message.slice(0, MAX_HEARTBEAT_ERROR_CHARS)));
    throw error;
  }
}

async function note(
  { heartbeats, log, installation }: HeartbeatDeps,
  name: ScheduledFunction,
  heartbeat: Heartbeat,
  found?: SampleFound,
): Promise<void> {
  try {
    await heartbeats.record(name, heartbeat, { installation, found });
  } catch (error) {
    log.warn('heartbeat_not_noted', { function: name, error });
  }
}
