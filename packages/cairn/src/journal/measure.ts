/**
 * Counts and logs the effect of a commit on a run, once it is known to be durable. Every append goes through the
 * journal, so this is the only place that sees each transition, exactly once.
 */
import { isTerminal } from '../core/run/status.ts';
import { type Log, ofRun } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { CommitBatch } from './batch.ts';

type DurableCommit = Pick<CommitBatch, 'after' | 'events' | 'moves' | 'checkpoints'>;

export function measure(
  { metrics, log }: { readonly metrics: Metrics; readonly log: Log },
  { after, events, moves, checkpoints }: DurableCommit,
): void {
  const { tenantId, type, durationMs = 0 } = after;
  const about = ofRun(after);
  for (const event of events) {
    if (event.type === 'run_claimed') log.info('run_claimed', { ...about, epoch: event.data.epoch });
  }
  for (const { seq, boundary, stepId, resumable } of checkpoints)
    log.info('run_checkpoint', { ...about, seq, boundary, stepId, resumable });
  for (const { from, to, by } of moves) {
    const { initiator, actor, type: cause, seq } = by;
    log.info('run_transition', { ...about, from, to, initiator, actor, cause, seq });
    metrics.transition({ tenantId, from, to });
    // The terminal event is the last one with a change to measure (J6).
    if (!isTerminal(to)) continue;
    log.info('run_completed', { ...about, type, status: to, durationMs });
    metrics.ended({ tenantId, type, status: to, durationMs });
  }
}
