/**
 * Counts what a commit did to a run, once it is known to be durable. Every append goes through the journal, so this is
 * the one place that sees each transition, whoever made it, and sees it once.
 */
import { isTerminal } from '../core/run/status.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Batch } from './batch.ts';

export function measure(metrics: Metrics, { after, moves }: Batch): void {
  const { tenantId, type, durationMs = 0 } = after;
  for (const { from, to } of moves) {
    metrics.transition({ tenantId, from, to });
    // The terminal event is the last that changes anything of this (J6).
    if (isTerminal(to)) metrics.ended({ tenantId, type, status: to, durationMs });
  }
}
