/**
 * Counts, and logs, what a commit did to a run, once it is known to be durable. Every append goes through the journal, so this is
 * the one place that sees each transition, whoever made it, and sees it once.
 */
import { isTerminal } from '../core/run/status.ts';
import { type Log, ofRun } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Batch } from './batch.ts';

/** @param log gets a line for each checkpoint, which is one for each step: too many for more than a close look */
export function measure(
  { metrics, log }: { readonly metrics: Metrics; readonly log: Log },
  { after, moves, checkpoints }: Batch,
): void {
  const { tenantId, type, durationMs = 0 } = after;
  for (const { seq, boundary, stepId, resumable } of checkpoints)
    log.debug('run_checkpoint', { ...ofRun(after), seq, boundary, stepId, resumable });
  for (const { from, to } of moves) {
    metrics.transition({ tenantId, from, to });
    // The terminal event is the last that changes anything of this (J6).
    if (isTerminal(to)) metrics.ended({ tenantId, type, status: to, durationMs });
  }
}
