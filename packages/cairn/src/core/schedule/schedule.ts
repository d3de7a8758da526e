/**
 * Defines a schedule, its ids and the ids of its runs.
 *
 * Must not: know where schedules are kept.
 */
import { sha256Hex } from '../encoding/hash.ts';
import { ID_BYTES, makeRunId } from '../encoding/ids.ts';
import type { Json } from '../encoding/json.ts';
import type { Timing } from './slots.ts';

/** Handling of missed slots: none, a run for the newest, or a run for each. */
export const CATCH_UPS = ['skip', 'latest', 'all'] as const;
export type CatchUp = (typeof CATCH_UPS)[number];

/** The author's definition of a schedule: workflow and times. */
export interface ScheduleSpec extends Timing {
  /** Type of the workflow; a run gets the newest version there is when it is started. */
  readonly type: string;
  /** Input of every run; see engine/define/slot-input.ts for additions. */
  readonly input: Json;
  readonly catchUp: CatchUp;
}

/** A schedule of a workflow's definition, under an id that is the same in every deployment. */
export interface DeclaredSchedule extends ScheduleSpec {
  readonly id: string;
}

/** Outcome of the newest slot. Times in epoch ms. */
export interface SlotResult {
  readonly slot: number;
  /** When it was tried. */
  readonly at: number;
  /** Either the run that was started, or the error. */
  readonly runId?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Handling of missed slots. Times in epoch ms. */
export interface CatchUpReport {
  readonly at: number;
  readonly policy: CatchUp;
  /** The first and the last missed slot, up to the limit of counting. */
  readonly from: number;
  readonly until: number;
  readonly missed: number;
  /** True if older slots exist, which were not counted and are skipped. */
  readonly more: boolean;
  /** Missed slots that got a run. */
  readonly made: number;
}

/** Pause of a schedule or a workflow, since a time in epoch ms, by a principal as journals name it. */
export interface PauseMark {
  readonly since: number;
  readonly by: string;
  readonly reason?: string | undefined;
}

/** Current state of a schedule. Times in epoch ms. */
export interface Schedule extends ScheduleSpec {
  readonly id: string;
  readonly tenantId: string;
  /** Declared by a workflow's definition, or made by a caller of the API. */
  readonly origin: 'declared' | 'stored';
  /** `withdrawn`: its workflow does not declare it any more. */
  readonly state: 'active' | 'paused' | 'withdrawn';
  readonly name?: string | undefined;
  /** All slots up to and including this one are settled. */
  readonly settledUntil: number;
  /**
   * The first slot after `settledUntil`, or the time of the next attempt of a refused start; present exactly while the schedule
   * is active and such a slot exists.
   */
  readonly nextAt?: number | undefined;
  /** While `paused`. */
  readonly pause?: PauseMark;
  readonly last?: SlotResult | undefined;
  readonly lastCatchUp?: CatchUpReport | undefined;
  /** Slots for which a run was started. */
  readonly fired: number;
  /** Number of skipped slots, up to the limit of counting. */
  readonly skipped: number;
  /** Slots whose start was refused. */
  readonly refused: number;
  readonly createdAt: number;
  /** When a person or a deployment last changed it. */
  readonly updatedAt: number;
  readonly createdBy?: string;
}

/** @param requestId names the request that makes it: 32 hex digits */
export function storedScheduleId(requestId: string): string {
  return `sch_${requestId}`;
}

/** Types have no dot and no underscore, so the id collides with no other type and no stored schedule. */
export function declaredScheduleId(type: string, id: string | undefined): string {
  return id === undefined ? type : `${type}.${id}`;
}

/**
 * Id of the run of a slot: the same for every process that fires it, so that there is one run even after its idempotency record
 * has expired.
 */
export function slotRunId(scheduleId: string, slot: number): string {
  return derivedRunId(`schedule:${scheduleId}:${slot}`);
}

/** Id of a run triggered by request. @param requestId identifies the request */
export function triggeredRunId(scheduleId: string, requestId: string): string {
  return derivedRunId(`schedule-trigger:${scheduleId}:${requestId}`);
}

function derivedRunId(text: string): string {
  return makeRunId(Buffer.from(sha256Hex(text), 'hex').subarray(0, ID_BYTES));
}
