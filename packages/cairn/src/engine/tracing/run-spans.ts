/**
 * Spans of a run: its start, its dispatches, and the death of a worker (docs/observability.md has the table). Pure.
 *
 * Must not: contain an input, an output or an error message.
 */

import type { RunState } from '../../core/run/state.ts';
import { driveSpan, runSpan, type TraceContext } from '../../core/trace.ts';
import type { SpanAttributes, SpanOptions } from '../../ports/tracing.ts';

function aboutRun({ id, tenantId, type, planVersion }: RunState): SpanAttributes {
  return {
    'cairn.run.id': id,
    'cairn.tenant.id': tenantId,
    'cairn.workflow.type': type,
    'cairn.workflow.version': planVersion,
  };
}

export function startedSpan(
  state: RunState,
  { parent, startedAt }: { readonly parent: TraceContext | undefined; readonly startedAt: number },
): SpanOptions {
  const { trigger, resumedFrom, source } = state;
  return {
    name: `start ${state.type}`,
    kind: 'internal',
    parent,
    self: runSpan(state),
    startedAt,
    attributes: {
      ...aboutRun(state),
      'cairn.start.outcome': 'created',
      'cairn.start.trigger': trigger.source,
      'cairn.run.resumed_from': resumedFrom,
      'cairn.run.made_from': source?.runId,
    },
  };
}

/** The span of a start that created no run. */
export function answeredSpan(
  { type, outcome, runId }: { readonly type: string; readonly outcome: string; readonly runId?: string },
  { parent, startedAt }: { readonly parent: TraceContext; readonly startedAt: number },
): SpanOptions {
  return {
    name: `start ${type}`,
    kind: 'internal',
    parent,
    startedAt,
    attributes: { 'cairn.workflow.type': type, 'cairn.start.outcome': outcome, 'cairn.run.id': runId },
  };
}

interface DispatchStart {
  /** The span of the caller. */
  readonly by: TraceContext | undefined;
  readonly startedAt: number;
}

/** The span of a dispatch: with `epoch`, one that took the lease of this epoch; without, one that found nothing to do. */
export function driveSpanOf(state: RunState, dispatch: DispatchStart, epoch?: number): SpanOptions {
  return {
    name: `drive ${state.type}`,
    kind: 'consumer',
    parent: runSpan(state),
    self: epoch === undefined ? undefined : driveSpan(state, epoch),
    startedAt: dispatch.startedAt,
    links: [dispatch.by],
    attributes: { ...aboutRun(state), ...DISPATCH, 'cairn.run.epoch': epoch ?? state.epoch },
  };
}

/** OpenTelemetry defines no messaging system for Cloud Tasks. */
const DISPATCH: SpanAttributes = {
  'messaging.system': 'gcp_cloud_tasks',
  'messaging.operation.name': 'process',
  'messaging.operation.type': 'process',
  'messaging.destination.name': 'drive',
  'faas.trigger': 'pubsub',
};

/**
 * Span of a dead dispatch, reported by the process that took its run over; the reported spans of its steps are its
 * children.
 */
export function deadDriveSpan(state: RunState, epoch: number, startedAt: number): SpanOptions {
  const options = driveSpanOf(state, { by: undefined, startedAt }, epoch);
  return { ...options, attributes: { ...options.attributes, 'cairn.drive.end': 'orphaned' } };
}

/** @param by the span of the scan, if a scan found the run */
export function recoverySpan(state: RunState, by: TraceContext | undefined): SpanOptions {
  const { lease } = state;
  return {
    name: `recover ${state.type}`,
    kind: 'internal',
    parent: runSpan(state),
    links: [by, lease && driveSpan(state, lease.epoch)],
    attributes: aboutRun(state),
  };
}
