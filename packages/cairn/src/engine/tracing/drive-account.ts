/**
 * Telemetry of one dispatch: a span and its duration, reported exactly once: by the dispatch at its end, or, if it died or
 * lost its run, by the process that took the run over (recover-run.ts).
 */

import type { TaskDelivery } from '../../core/decisions/claim.ts';
import type { TaskRef } from '../../core/run/data/takeover.ts';
import type { RunState } from '../../core/run/state.ts';
import { runSpan, type TraceContext } from '../../core/trace.ts';
import { publishedName } from '../../ports/metrics.ts';
import type { DriveTask } from '../../ports/task-queue.ts';
import { errorTypeOf, type Span } from '../../ports/tracing.ts';
import type { EngineDeps } from '../deps.ts';
import { driveSpanOf } from './run-spans.ts';
export interface DriveRequest extends Pick<DriveTask, 'runId' | 'alone' | 'pool' | 'skipsBackoff' | 'trace'> {
  /** True for the first work of its instance. */
  readonly isCold?: boolean;
  /** Number of the queue's delivery; absent if the queue did not say. */
  readonly delivery?: TaskDelivery | undefined;
  /** True if the scan only checks whether the worker of the run is dead. If it lives, nothing follows. */
  readonly watches?: boolean | undefined;
}

export class DriveAccount {
  readonly #deps: Pick<EngineDeps, 'tracer' | 'metrics' | 'clock'>;
  readonly #request: DriveRequest;
  readonly #startedAt: number;
  #state: RunState | undefined;
  #owner: string | undefined;
  #span: Span | undefined;

  constructor(deps: Pick<EngineDeps, 'tracer' | 'metrics' | 'clock'>, request: DriveRequest) {
    this.#deps = deps;
    this.#request = request;
    this.#startedAt = deps.clock.now();
  }

  get runId(): string {
    return this.#request.runId;
  }

  get delivery(): TaskDelivery | undefined {
    return this.#request.delivery;
  }

  /** The delivery as a claim records it. */
  get task(): { task?: TaskRef } {
    const { delivery } = this.#request;
    return delivery ? { task: { name: delivery.name, retryCount: delivery.retryCount } } : {};
  }

  get isAlone(): boolean {
    return this.#request.alone ?? false;
  }

  get watches(): boolean {
    return this.#request.watches ?? false;
  }

  get skipsBackoff(): boolean {
    return this.#request.skipsBackoff ?? false;
  }

  get pool(): string | undefined {
    return this.#request.pool;
  }

  /** Trace of the requester. */
  get by(): TraceContext | undefined {
    return this.#request.trace;
  }

  /** Owner of the lease that it holds or has held. */
  get owner(): string | undefined {
    return this.#owner;
  }

  /** Trace of all further work. */
  get trace(): TraceContext | undefined {
    if (this.#span || !this.#deps.tracer) return this.#span?.context;
    return this.#state && this.#deps.tracer.decided(runSpan(this.#state));
  }

  /** Call each time the dispatch checks the run. */
  found(state: RunState): void {
    this.#state = state;
  }

  /** Call when the dispatch takes the lease of this epoch. */
  took(state: RunState): void {
    this.#state = state;
    this.#owner = state.lease?.owner;
    this.#span = this.#deps.tracer?.open(driveSpanOf(state, this.#requested, state.epoch));
  }

  ended(end: string): void {
    this.#report(publishedName(end));
  }

  failed(error: unknown): void {
    this.#report('failed', errorTypeOf(error));
  }

  get #requested() {
    return { by: this.#request.trace, startedAt: this.#startedAt };
  }

  #report(end: string, failure?: string): void {
    const { tracer, metrics, clock } = this.#deps;
    const state = this.#state;
    if (!state) return;
    const { isCold = false } = this.#request;
    const durationMs = Math.max(0, clock.now() - this.#startedAt);
    metrics.dispatch({ tenantId: state.tenantId, end, cold: isCold, durationMs });
    // The process that took the run over has reported it.
    if (this.#span && end === 'lease_lost') return;
    const span = this.#span ?? tracer?.open(driveSpanOf(state, this.#requested));
    span?.set({ 'cairn.drive.end': end, 'faas.coldstart': isCold || undefined });
    span?.end(failure);
  }
}
