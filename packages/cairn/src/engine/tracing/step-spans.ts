/**
 * Spans of a step: its attempts and their effect calls (docs/observability.md has the table). Pure.
 *
 * Must not: contain an input, a request, a response or an error message.
 */
import type { StepExecution } from '../../core/run/events.ts';
import { stepKey } from '../../core/run/state.ts';
import { attemptSpan, driveSpan, type TraceContext, type TracedRun } from '../../core/trace.ts';
import type { SpanAttributes, SpanOptions } from '../../ports/tracing.ts';
import type { Binding, Capability } from '../define/capability.ts';

type TracedExecution = Pick<StepExecution, 'stepId' | 'itemKey' | 'attempt' | 'revision' | 'startedAt'>;

function aboutStep(runId: string, { stepId, itemKey, attempt, revision }: TracedExecution): SpanAttributes {
  return {
    'cairn.run.id': runId,
    'cairn.step.id': stepId,
    'cairn.step.item': itemKey,
    'cairn.step.attempt': attempt,
    'cairn.step.revision': revision,
  };
}

export function stepSpan(run: TracedRun, execution: TracedExecution, epoch: number): SpanOptions {
  const { stepId, revision, attempt, startedAt } = execution;
  const place = { epoch, key: stepKey(execution), revision, attempt, startedAt };
  return {
    name: `step ${stepId}`,
    kind: 'internal',
    parent: driveSpan(run, epoch),
    self: attemptSpan(run, place),
    attributes: aboutStep(run.id, execution),
  };
}

/** Span of an attempt that ended with its dispatch, reported by the process that took the run over. */
export function cutOffSpan(run: TracedRun, execution: TracedExecution, epoch: number): SpanOptions {
  const options = stepSpan(run, execution, epoch);
  const { startedAt } = execution;
  return { ...options, startedAt, attributes: { ...options.attributes, 'cairn.step.outcome': 'orphaned' } };
}

/** An attempt of a compensation. The journal has it only after its end. */
export function undoSpan(run: TracedRun, execution: TracedExecution, epoch: number): SpanOptions {
  return {
    name: `undo ${execution.stepId}`,
    kind: 'internal',
    parent: driveSpan(run, epoch),
    attributes: aboutStep(run.id, execution),
  };
}

export interface Performed {
  readonly runId: string;
  readonly execution: TracedExecution;
  readonly capability: Pick<Capability, 'id' | 'sideEffects'>;
  /** The attempt. */
  readonly parent: TraceContext | undefined;
}

export function effectSpan({ runId, execution, capability, parent }: Performed): SpanOptions {
  return {
    name: `effect ${capability.id}`,
    kind: 'internal',
    parent,
    attributes: { ...aboutStep(runId, execution), ...aboutCapability(capability) },
  };
}

/** One external request, or a lookup of its outcome. */
export function callSpan(
  what: 'call' | 'lookup',
  { runId, execution, capability, parent }: Performed,
  { binding, effectId }: { readonly binding: Pick<Binding, 'id'>; readonly effectId?: string },
): SpanOptions {
  return {
    name: `${what} ${binding.id}`,
    kind: 'client',
    parent,
    attributes: {
      ...aboutStep(runId, execution),
      ...aboutCapability(capability),
      'cairn.binding.id': binding.id,
      'cairn.effect.id': effectId,
    },
  };
}

function aboutCapability({ id, sideEffects }: Pick<Capability, 'id' | 'sideEffects'>): SpanAttributes {
  return { 'cairn.capability.id': id, 'cairn.capability.side_effects': sideEffects };
}
