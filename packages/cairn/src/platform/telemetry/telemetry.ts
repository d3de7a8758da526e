/**
 * Decides when an instance exports its metrics to a collector. An instance is frozen between requests and may never run again, so
 * it exports at the end of a request; a timer alone might never fire.
 *
 * Must not: delay or fail any other work because of a collector.
 */
import { type CancelTimer, type Clock, pause } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type {
  Conflict,
  DispatchMetric,
  EffectMetric,
  Enqueue,
  FoundProblem,
  InstallationMetrics,
  KeyedResponse,
  Metrics,
  ProblemMetrics,
  RunEndMetric,
  ScanMetric,
  Transition,
} from '../../ports/metrics.ts';
import type { MetricSink, Sinks, TenantActivity } from './sink.ts';
import { MAX_SPANS_SENT, SpanBuffer } from './span-buffer.ts';
import type { EndedSpan } from './span-tracer.ts';

/** Longest delay of a function's end by an export. The export continues as long as the instance does. */
const WAIT_MS = 2_000;
/** The same limit for an ending instance, which serves no other request. */
const LAST_WAIT_MS = 10_000;
/** Most entries kept while the exporter is loaded, which takes a fraction of a second. */
const MAX_PENDING = 10_000;
/** Shortest time between two log lines about an unavailable collector. */
const COMPLAIN_EVERY_MS = 60_000;

interface TelemetryOptions {
  /** Called once, with the first count or span. */
  load(): Promise<Sinks>;
  /** Shortest time between two exports. Later counts are sent with the next one. */
  readonly everyMs: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborts when the instance shuts down. */
  readonly shutdown: AbortSignal;
}

export class Telemetry implements Metrics, ProblemMetrics, InstallationMetrics {
  readonly #options: TelemetryOptions;
  readonly #spans = new SpanBuffer();
  #loading: Promise<Sinks> | undefined;
  #sink: MetricSink | undefined;
  #pending: ((sink: MetricSink) => void)[] = [];
  #lost = 0;
  /** True if there are metrics or ended spans that no export includes yet. */
  #news = false;
  #sending: Promise<void> | undefined;
  #lastBegunAt = Number.NEGATIVE_INFINITY;
  #timer: { readonly dueAt: number; readonly cancel: CancelTimer } | undefined;
  #complainedAt = Number.NEGATIVE_INFINITY;

  constructor(options: TelemetryOptions) {
    this.#options = options;
    options.shutdown.addEventListener('abort', () => void this.#sendNow(), { once: true });
  }

  transition(transition: Transition): void {
    this.#count((sink) => sink.transition(transition));
  }

  ended(ending: RunEndMetric): void {
    this.#count((sink) => sink.ended(ending));
  }

  answered(answer: KeyedResponse): void {
    this.#count((sink) => sink.answered(answer));
  }

  inconsistent(problem: FoundProblem): void {
    this.#count((sink) => sink.inconsistent(problem));
  }

  effect(effect: EffectMetric): void {
    this.#count((sink) => sink.effect(effect));
  }

  conflict(conflict: Conflict): void {
    this.#count((sink) => sink.conflict(conflict));
  }

  dispatch(dispatch: DispatchMetric): void {
    this.#count((sink) => sink.dispatch(dispatch));
  }

  enqueue(enqueue: Enqueue): void {
    this.#count((sink) => sink.enqueue(enqueue));
  }

  scan(scan: ScanMetric): void {
    this.#count((sink) => sink.scan(scan));
  }

  /** May export during work: a dispatch may take minutes, and die before its end. */
  spanEnded(span: EndedSpan): void {
    const isKept = this.#spans.add(span);
    this.#news = true;
    // Once per full batch. Otherwise every further span would try an unavailable collector again.
    if (isKept && this.#spans.size % MAX_SPANS_SENT === 0) void this.#sendAll();
    else this.#sendIn(this.#options.everyMs);
  }

  /** Called at the end of a request or dispatch, after the response. Resolves within {@link WAIT_MS}, never rejects. */
  async workEnded(): Promise<void> {
    if (!this.#news) return;
    const { clock, everyMs } = this.#options;
    const dueIn = this.#lastBegunAt + everyMs - clock.now();
    if (dueIn <= 0) await this.#inTime(this.#sendAll());
    else this.#sendIn(dueIn);
  }

  /** The same for the last work of an instance: everything is exported, however recent the last export was. */
  async lastWorkEnded(): Promise<void> {
    await this.#inTime(this.#sendNow(), LAST_WAIT_MS);
  }

  /** Metrics of a scheduled function. They are exported immediately, because no caller waits for the function. */
  async reportActive(activity: readonly TenantActivity[]): Promise<void> {
    this.#count((sink) => sink.active(activity));
    await this.#inTime(this.#sendNow());
  }

  #count(report: (sink: MetricSink) => void): void {
    this.#news = true;
    if (this.#sink) {
      report(this.#sink);
      return;
    }
    if (this.#pending.length < MAX_PENDING) this.#pending.push(report);
    else this.#lost += 1;
    // Does not wait for the exporter. Counts from before it is loaded are kept in a list.
    this.#load().catch((error: unknown) => this.#complain(error));
  }

  #load(): Promise<Sinks> {
    this.#loading ??= this.#options.load().then(
      (sinks) => {
        this.#sink = sinks.metrics;
        for (const report of this.#pending) report(sinks.metrics);
        if (this.#lost > 0) this.#options.log.warn('telemetry_counts_lost', { counts: this.#lost });
        this.#pending = [];
        return sinks;
      },
      (error: unknown) => {
        // The next count tries again.
        this.#loading = undefined;
        throw error;
      },
    );
    return this.#loading;
  }

  /** For instances that keep running. In an idle instance the timer does not fire before the next request, which exports itself. */
  #sendIn(dueIn: number): void {
    const { clock } = this.#options;
    const dueAt = clock.now() + dueIn;
    if (this.#timer && this.#timer.dueAt <= dueAt) return;
    this.#timer?.cancel();
    const cancel = clock.timer(dueIn, () => {
      this.#timer = undefined;
      void this.#sendAll();
    });
    this.#timer = { dueAt, cancel };
  }

  async #sendNow(): Promise<void> {
    await this.#sending;
    await this.#sendAll();
  }

  /** One export at a time. Callers during an export share it, and later data waits for the next one. */
  #sendAll(): Promise<void> {
    if (!this.#news) return this.#sending ?? Promise.resolve();
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #send(): Promise<void> {
    this.#lastBegunAt = this.#options.clock.now();
    try {
      const { metrics, spans } = await this.#load();
      this.#news = false;
      this.#noteDropped(metrics);
      const ends = await Promise.allSettled([metrics.send(), this.#spans.drain((some) => spans.send(some))]);
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    } catch (error) {
      this.#news = true;
      this.#complain(error);
    }
  }

  #noteDropped(metrics: MetricSink): void {
    const spans = this.#spans.takeDropped();
    if (spans === 0) return;
    metrics.spansDropped(spans);
    this.#options.log.warn('telemetry_spans_dropped', { spans });
  }

  async #inTime(work: Promise<void>, waitMs = WAIT_MS): Promise<void> {
    const done = new AbortController();
    const late = pause(this.#options.clock, waitMs, done.signal);
    await Promise.race([work, late]);
    done.abort();
  }

  #complain(error: unknown): void {
    const { clock, log } = this.#options;
    const now = clock.now();
    if (now - this.#complainedAt < COMPLAIN_EVERY_MS) return;
    this.#complainedAt = now;
    log.warn('telemetry_not_sent', { error });
  }
}
