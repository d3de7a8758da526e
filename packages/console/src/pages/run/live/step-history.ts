/**
 * History of each step from the journal: its attempts, its waits, and their ends. Folded event by event, in order.
 * Pure but for its own map, which grows.
 */
import { dayResumption, stepKey } from '@cairn/client';
import { type DataOf, known, type RunEvent, stepIdOf } from './events.ts';
import type { SpanEnd, StepHistory, TimelineSpan } from './span.ts';

export class StepHistories {
  /** In the order in which they began. */
  readonly byKey = new Map<string, StepHistory>();
  readonly #open = new Set<string>();
  #head = 0;

  /** Skips events that it already has. */
  add(events: readonly RunEvent[]): void {
    for (let at = this.#head; at < events.length; at += 1) {
      const event = events[at];
      if (event) this.#take(event);
    }
    this.#head = Math.max(this.#head, events.length);
  }

  #take(anyEvent: RunEvent): void {
    const event = known(anyEvent);
    const at = Date.parse(event.at);
    const { seq } = event;
    switch (event.type) {
      case 'step_started':
        this.#begin(event.data, { kind: 'attempt', seq, from: Date.parse(event.data.startedAt) });
        return;
      case 'step_retry_scheduled':
        this.#end(event.data, {
          seq,
          at,
          ...retriedAs(event.data),
          dueAt: Date.parse(event.data.retryAt),
        });
        return;
      case 'step_succeeded':
      case 'step_degraded':
      case 'step_skipped':
      case 'step_reused':
      case 'step_failed':
        this.#settle(event.type, event.data, seq, at);
        return;
      case 'wait_opened': {
        const { id, execution, dueAt, child } = event.data.wait;
        const more = {
          ...(dueAt === undefined ? {} : { dueAt: Date.parse(dueAt) }),
          ...(child ? { childId: child.runId } : {}),
        };
        this.#closeOpen(at, 'ended', (key) => key === stepKey(execution));
        this.#begin(execution, { kind: 'wait', seq, from: at, waitId: id, ...more });
        return;
      }
      case 'wait_resolved': {
        const why = dayResumption(event.data, event.actor);
        const end = why === undefined ? 'answered' : 'resumed';
        this.#closeWait(event.data.waitId, at, end, why ?? event.data.decision);
        return;
      }
      case 'wait_expired':
        this.#closeWait(event.data.waitId, at, 'expired');
        return;
      case 'effect_attempted':
        this.#change(stepKey(event.data), (step) => ({
          ...step,
          effects: step.effects.includes(event.data.effectId)
            ? step.effects
            : [...step.effects, event.data.effectId],
        }));
        return;
      case 'feedback_given': {
        const again = new Set(event.data.again);
        this.#closeOpen(at, 'sent_back', (key) => again.has(stepIdOf(key)));
        return;
      }
      case 'orphan_detected':
        this.#closeOpen(
          Date.parse(event.data.lastHeartbeatAt),
          'interrupted',
          (_, { kind }) => kind === 'attempt',
        );
        return;
      case 'run_released':
        this.#closeOpen(at, 'released', (_, { kind }) => kind === 'attempt');
        return;
      case 'run_completed':
      case 'run_failed':
      case 'run_cancelled':
        this.#closeOpen(at, 'ended', () => true);
        return;
    }
  }

  #begin(
    { kind, revision, attempt, location, ...ref }: DataOf<'step_started'>,
    span: Pick<TimelineSpan, 'kind' | 'seq' | 'from' | 'waitId' | 'childId' | 'dueAt'>,
  ): void {
    const key = stepKey(ref);
    const begun: TimelineSpan = { ...span, revision, attempt };
    const before = this.byKey.get(key) ?? { key, kind, spans: [], attempts: 0, effects: [] };
    const at = location === undefined ? {} : { location };
    this.byKey.set(key, { ...before, ...at, spans: [...before.spans, begun], attempts: attempt });
    this.#open.add(key);
  }

  /** Ends the open attempt, or adds one whose start was not recorded. */
  #end(
    data: DataOf<'step_started'>,
    {
      seq,
      at,
      ...ended
    }: { readonly seq: number; readonly at: number } & Pick<TimelineSpan, 'end' | 'error' | 'dueAt' | 'note'>,
  ): void {
    const key = stepKey(data);
    const last = this.byKey.get(key)?.spans.at(-1);
    const isOpen = last?.to === undefined && last?.revision === data.revision;
    if (!isOpen) this.#begin(data, { kind: 'attempt', seq, from: beganAt(data, last, at) });
    this.#change(key, (step) => ({
      ...step,
      spans: withLast(step.spans, { to: Math.max(at, step.spans.at(-1)?.from ?? at), ...ended }),
    }));
    this.#open.delete(key);
  }

  #settle(
    type: 'step_succeeded' | 'step_degraded' | 'step_skipped' | 'step_reused' | 'step_failed',
    data: DataOf<typeof type>,
    seq: number,
    at: number,
  ): void {
    const key = stepKey(data);
    const last = this.byKey.get(key)?.spans.at(-1);
    const end = type.slice('step_'.length) as SpanEnd;
    const details = {
      end,
      ...('error' in data ? { error: data.error } : {}),
      ...('reason' in data ? { note: data.reason } : {}),
    };
    // A step that only waits has no attempt: its outcome comes at the moment of its answer.
    const waited =
      last?.kind === 'wait' && last.revision === data.revision && data.kind !== 'step' && data.kind !== 'map';
    if (waited && last.to !== undefined)
      this.#change(key, (step) => ({ ...step, spans: withLast(step.spans, details) }));
    // A reused step took its time in another run.
    else
      this.#end(type === 'step_reused' ? { ...data, startedAt: new Date(at).toISOString() } : data, {
        seq,
        at: type === 'step_reused' ? at : bodyEndedAt(data, at),
        ...details,
      });
    this.#change(key, (step) => ({
      ...step,
      durationMs: data.durationMs,
      summary: data.outputsSummary,
      ...(data.agent === undefined ? {} : { agent: data.agent }),
      ...(data.tokensUsed === undefined ? {} : { tokensUsed: data.tokensUsed }),
    }));
  }

  #closeWait(waitId: string, at: number, end: SpanEnd, note?: string): void {
    for (const key of this.#open) {
      const last = this.byKey.get(key)?.spans.at(-1);
      if (last?.waitId !== waitId) continue;
      const details = note === undefined ? {} : { note };
      this.#change(key, (step) => ({ ...step, spans: withLast(step.spans, { to: at, end, ...details }) }));
      this.#open.delete(key);
    }
  }

  #closeOpen(at: number, end: SpanEnd, which: (key: string, last: TimelineSpan) => boolean): void {
    for (const key of [...this.#open]) {
      const last = this.byKey.get(key)?.spans.at(-1);
      if (!last || !which(key, last)) continue;
      this.#change(key, (step) => ({
        ...step,
        spans: withLast(step.spans, { to: Math.max(at, last.from), end }),
      }));
      this.#open.delete(key);
    }
  }

  #change(key: string, change: (step: StepHistory) => StepHistory): void {
    const step = this.byKey.get(key);
    if (step) this.byKey.set(key, change(step));
  }
}

/** An attempt that is polled or deferred has not failed. */
function retriedAs({
  polled,
  budget,
  error,
}: DataOf<'step_retry_scheduled'>): Pick<TimelineSpan, 'end' | 'error' | 'note'> {
  if (polled) return { end: 'polled', note: error.message };
  return budget ? { end: 'deferred', note: error.message } : { end: 'retried', error };
}

/** The end of a body. Its event is later: the output is stored first, and the commit may wait for slower steps. */
function bodyEndedAt({ startedAt, durationMs }: DataOf<'step_succeeded'>, at: number): number {
  return Math.min(at, Date.parse(startedAt) + durationMs);
}

/** The start of an attempt. Events contain the start of the first attempt; a later one began when due, or later. */
function beganAt(
  { startedAt, revision }: DataOf<'step_started'>,
  last: TimelineSpan | undefined,
  at: number,
): number {
  const from = Math.min(Date.parse(startedAt), at);
  if (last?.to === undefined || last.revision !== revision) return from;
  return Math.min(at, Math.max(from, last.to, last.dueAt ?? 0));
}

function withLast(spans: readonly TimelineSpan[], change: Partial<TimelineSpan>): TimelineSpan[] {
  return spans.map((span, at) => (at === spans.length - 1 ? { ...span, ...change } : span));
}
