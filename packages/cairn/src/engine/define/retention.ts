/** Retention options of a workflow, validated at definition. */
import { parseDuration } from '../../core/duration.ts';
import { declaredType } from '../../core/flow/parts.ts';
import {
  END_STATUSES,
  isEndStatus,
  MIN_RETENTION_MS,
  type Retention,
  type RetentionOf,
  retentionMs,
} from '../../core/retention/policy.ts';
import type { WorkflowRegistry } from './registry.ts';
import { invalid } from './step-options.ts';

/**
 * Retention after the end of a run: '90d', '1y' (365 days), ms, or 'forever'; at least a day. Omitted values follow the
 * installation (docs/retention.md). The newest version determines the retention of all versions.
 */
export interface RetentionOptions {
  readonly completed?: string | number;
  readonly failed?: string | number;
  readonly cancelled?: string | number;
}

/** @throws CairnError INVALID_INPUT */
export function retentionFor(type: string, options: RetentionOptions = {}): Retention {
  const retention: { -readonly [S in keyof Retention]: Retention[S] } = {};
  for (const [status, duration] of Object.entries(options)) {
    const field = `retention.${status}`;
    if (!isEndStatus(status))
      throw invalid(
        type,
        field,
        `${field}: '${status}' is not an end status; use ${END_STATUSES.join(', ')}`,
      );
    if (duration === undefined) continue;
    const ms =
      duration === 'forever'
        ? duration
        : parseDuration(inDays(duration), `${type}.${field}`, `workflow '${type}': '${field}'`);
    if (ms !== 'forever' && ms < MIN_RETENTION_MS)
      throw invalid(
        type,
        field,
        `${field}: must be at least a day, because repeated requests are answered from the run`,
      );
    retention[status] = ms;
  }
  return retention;
}

/**
 * Retention by the newest version of each workflow, else by the installation; workflows that are not deployed follow
 * the installation.
 *
 * @param byDefault ms; undefined: unlimited
 */
export function retentionIn(registry: WorkflowRegistry, byDefault: number | undefined): RetentionOf {
  return (type, status) => retentionMs(registry.newest(declaredType(type))?.retention, status, byDefault);
}

/** Only retention accepts years. */
function inDays(duration: string | number): string | number {
  const [, years] = (typeof duration === 'string' && /^(\d{1,3})y$/.exec(duration)) || [];
  return years === undefined ? duration : `${Number(years) * 365}d`;
}
