/** Drive classes: the functions that dispatch the runs of each workflow, and their time limits. */
import {
  budgetOf,
  DRIVE_TIMEOUT_S,
  LONGEST_DRIVE_S,
  longestStepIn,
  SHORTEST_DRIVE_S,
} from '../../core/drive-time.ts';
import { exactDurationText } from '../../core/duration.ts';
import { DELETION_GRACE_MS } from '../../core/retention/lineage.ts';
import type { Workflow } from '../../engine/define/steps.ts';
import { driveTimeoutSeconds } from '../settings/parameters.ts';
import type { CairnOptions } from './options.ts';

type DriveChoices = Pick<CairnOptions, 'drive' | 'drives' | 'parameters'>;

/** Returns the drive class of a workflow by its type. Undefined if there are no classes. */
export function poolsOf({ drives = {} }: DriveChoices): ((type: string) => string | undefined) | undefined {
  const classes = Object.entries(drives);
  if (classes.length === 0) return undefined;
  const pools = new Map(classes.flatMap(([pool, { workflows }]) => workflows.map((type) => [type, pool])));
  return (type) => pools.get(type);
}

/** @param pool undefined: the functions for workflows without a class */
export function driveTimeoutS(options: DriveChoices, pool: string | undefined): number {
  const { drive = {}, drives = {}, parameters } = options;
  if (pool !== undefined) return drives[pool]?.timeoutSeconds ?? DRIVE_TIMEOUT_S;
  if (drive.timeoutSeconds !== undefined) return drive.timeoutSeconds;
  return parameters ? givenTimeoutS() : DRIVE_TIMEOUT_S;
}

/** @throws Error with the name of the parameter: a dispatch that lasts longer than its function would be cut off */
function givenTimeoutS(): number {
  const seconds = driveTimeoutSeconds.value();
  if (seconds >= SHORTEST_DRIVE_S && seconds <= LONGEST_DRIVE_S) return seconds;
  throw new Error(
    `DRIVE_TIMEOUT_SECONDS is ${seconds}; it must be an integer from ${SHORTEST_DRIVE_S} to ${LONGEST_DRIVE_S}`,
  );
}

/** Margin for clock differences and for the last writes. */
const ROOM_MS = 360_000;

/** Time for which a run marked for deletion is left alone, ms: longer than any dispatch that may still write to it. */
export function deletionGraceMs(options: DriveChoices): number {
  const pools = [undefined, ...Object.keys(options.drives ?? {})];
  const longest = Math.max(...pools.map((pool) => driveTimeoutS(options, pool)));
  return Math.max(DELETION_GRACE_MS, longest * 1_000 + ROOM_MS);
}

/**
 * @throws Error with the step whose timeout exceeds its dispatch, or with the class whose workflow is not installed: a misspelt
 * workflow would run in another class
 */
export function assertDrivesFit(options: DriveChoices, installed: readonly Workflow[]): void {
  const poolOf = poolsOf(options);
  for (const [pool, { workflows }] of Object.entries(options.drives ?? {})) {
    const missing = workflows.find((type) => installed.every((one) => one.type !== type));
    if (missing !== undefined)
      throw new Error(
        `cairnFunctions: drives.${pool} is for the workflow '${missing}', which is not installed`,
      );
  }
  for (const workflow of installed) {
    const pool = poolOf?.(workflow.type);
    const longest = longestStepIn(budgetOf(driveTimeoutS(options, pool)));
    for (const step of workflow.steps.values()) {
      if (!('body' in step) || step.timeoutMs <= longest) continue;
      const where = pool === undefined ? 'drive' : `drives.${pool}`;
      throw new Error(
        `the step '${step.id}' of '${workflow.type}' has a timeout of ${exactDurationText(step.timeoutMs)}, but its dispatch allows ${exactDurationText(longest)}. ` +
          `Increase ${where}.timeoutSeconds of cairnFunctions, or give the workflow its own entry in drives`,
      );
    }
  }
}
