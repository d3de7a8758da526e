/** Collects the spans of an installation as they end, with their parents. */
import type { Sampling } from '../../packages/cairn/src/platform/telemetry/sampling.ts';
import { type EndedSpan, SpanTracer } from '../../packages/cairn/src/platform/telemetry/span-tracer.ts';
import type { Clock } from '../../packages/cairn/src/ports/clock.ts';
import type { Tracer } from '../../packages/cairn/src/ports/tracing.ts';
import { seededRandomness } from './world.ts';

export class CollectedSpans {
  readonly ended: EndedSpan[] = [];
  readonly #sampling: Sampling;

  constructor(sampling: Sampling = { parentBased: true, ratio: 1 }) {
    this.#sampling = sampling;
  }

  /** Tracer of one process of the installation. */
  tracerBy(clock: Clock): Tracer {
    const onEnd = (span: EndedSpan) => void this.ended.push(span);
    return new SpanTracer({ sampling: this.#sampling, clock, random: seededRandomness(99), onEnd });
  }

  named(name: string): EndedSpan[] {
    return this.ended.filter((span) => span.name === name);
  }

  get traceIds(): string[] {
    return [...new Set(this.ended.map(({ context }) => context.traceId))];
  }

  /** Spans whose parent was not collected, except for parents of callers. */
  orphans(callers: readonly string[] = []): string[] {
    const ids = new Set([...callers, ...this.ended.map(({ context }) => context.spanId)]);
    return this.ended.filter(({ parent }) => parent && !ids.has(parent.spanId)).map(({ name }) => name);
  }

  /** Ids of more than one span. */
  get twice(): string[] {
    const ids = this.ended.map(({ context }) => context.spanId);
    return ids.filter((id, i) => ids.indexOf(id) !== i);
  }

  /** The names from the outermost span down to this one. */
  pathOf(span: EndedSpan): string[] {
    const parent = this.ended.find(({ context }) => context.spanId === span.parent?.spanId);
    return [...(parent ? this.pathOf(parent) : []), span.name];
  }
}
