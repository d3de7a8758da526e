/**
 * Keeps the page's view of one run current: reads its graph once, applies every event of the stream, and loads the history
 * on request. Independent of React.
 *
 * Must not: request the same data twice, or hold more than `event-log.ts` allows.
 */
import { Observable } from '../../../api/observable.ts';
import { ApiError, isPassing } from '../../../api/problem.ts';
import { isFinal } from '../../../parts/run-status.ts';
import { EMPTY_LOG, type EventLog, isFull, reach, withHistory, withLive } from './event-log.ts';
import type { GraphStepState, RunEvent, RunGraph } from './events.ts';
import { foldGraph, type GraphState, graphState } from './fold-graph.ts';
import type { StepHistory } from './span.ts';
import { StepHistories } from './step-history.ts';

/** Pauses between retries, about 15 s in all. After that the error is shown. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000];

export interface RunSource {
  readGraph(): Promise<RunGraph>;
  readEvents(
    cursor: string | undefined,
  ): Promise<{ readonly items: RunEvent[]; readonly next?: string | undefined }>;
  /** Reports all events after the seq until the run has ended or the signal aborts; never throws. */
  follow(after: number, handlers: FollowerHandlers, signal: AbortSignal): Promise<void>;
}

export interface FollowerHandlers {
  onEvent(event: RunEvent): void;
  onState(state: 'live' | 'reconnecting'): void;
  onEnd(): void;
  onRefused(error: unknown): void;
}

export type Liveness = 'live' | 'reconnecting' | 'ended';

/** State of loading the journal. */
export interface History {
  readonly loading: boolean;
  /** True if all events up to the newest are loaded. */
  readonly complete: boolean;
  /** True if the journal exceeds the limit of the page, so that its newest events are missing. */
  readonly full: boolean;
  readonly error: unknown;
}

export interface FollowedState {
  readonly graph: RunGraph | undefined;
  readonly steps: ReadonlyMap<string, GraphStepState>;
  readonly events: readonly RunEvent[];
  /** Folded from `events`. The same map each time: `events` is new when it has changed. */
  readonly histories: ReadonlyMap<string, StepHistory>;
  readonly history: History;
  /** Seq of the newest event; 0 before the first answer. */
  readonly head: number;
  readonly live: Liveness;
  readonly error: unknown;
}

/** Events of one burst are shown together. */
const BURST_MS = 100;
/** Growth after which a loading history is shown again, as a share. Each time, the page lays out all of it. */
const SHOWN_GROWTH = 0.05;
/** Events loaded initially. Five reads cover the whole history of most runs. */
const FIRST_EVENTS = 500;

const NOTHING: FollowedState = {
  graph: undefined,
  steps: new Map(),
  events: [],
  histories: new Map(),
  history: { loading: true, complete: false, full: false, error: undefined },
  head: 0,
  live: 'reconnecting',
  error: undefined,
};

export class RunFollower extends Observable<FollowedState> {
  readonly #source: RunSource;
  #plan: RunGraph | undefined;
  #state: GraphState | undefined;
  #hasStarted = false;
  #log: EventLog = EMPTY_LOG;
  readonly #histories = new StepHistories();
  /** Events of the stream that are not shown yet. */
  #burst: RunEvent[] = [];
  #burstTimer: ReturnType<typeof setTimeout> | undefined;
  #cursor: string | undefined;
  /** Seq up to which the history is to be loaded. */
  #loadUntil = FIRST_EVENTS;
  #loading = false;
  #historyError: unknown;
  #following = new AbortController();

  /** @param graph shown at once; absent: it is read first */
  constructor(source: RunSource, graph?: RunGraph) {
    super(NOTHING);
    this.#source = source;
    if (!graph) return;
    this.#plan = graph;
    this.#state = graphState(graph);
    this.#show({});
  }

  /** Starts, or restarts after a failure with the events already known. Returns the function that ends it. */
  start(): () => void {
    this.#following.abort();
    const following = new AbortController();
    this.#following = following;
    this.#show({ error: undefined, live: 'reconnecting' });
    void this.#run(following.signal);
    return () => {
      following.abort();
      clearTimeout(this.#burstTimer);
      this.#burstTimer = undefined;
    };
  }

  /** Loads the history up to the event, in the background. */
  readonly loadUntil = (seq: number): void => {
    this.#loadUntil = Math.max(this.#loadUntil, seq);
    void this.#loadHistory(this.#following.signal);
  };

  async #run(signal: AbortSignal): Promise<void> {
    const isFirst = !this.#hasStarted;
    try {
      if (!this.#plan) {
        this.#plan = await retryWhileBusy(() => this.#source.readGraph(), signal);
        if (signal.aborted) return;
        this.#state = graphState(this.#plan);
      }
    } catch (error) {
      if (!signal.aborted) this.#show({ error, live: 'ended' });
      return;
    }
    this.#hasStarted = true;
    const isOver = isFinal(this.#state?.status ?? '');
    this.#show({ live: isOver ? 'ended' : this.shown().live });
    void this.#loadHistory(signal);
    // A restart also follows a run that has ended: events such as `run_superseded` are appended after its end.
    if (!isOver || !isFirst) await this.#follow(signal);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    await this.#source.follow(
      this.#burst.at(-1)?.seq ?? this.#state?.head ?? 0,
      {
        onEvent: (event) => this.#receive(event),
        onState: (live) => {
          if (!signal.aborted && !isFinal(this.#state?.status ?? '')) this.#show({ live });
        },
        onEnd: () => {
          this.#applyBurst();
          this.#show({ live: 'ended' });
        },
        onRefused: (error) => this.#show({ error, live: 'ended' }),
      },
      signal,
    );
  }

  #receive(event: RunEvent): void {
    this.#burst.push(event);
    this.#burstTimer ??= setTimeout(() => this.#applyBurst(), BURST_MS);
  }

  #applyBurst(): void {
    clearTimeout(this.#burstTimer);
    this.#burstTimer = undefined;
    const events = this.#burst;
    this.#burst = [];
    if (!this.#state || events.length === 0) return;
    this.#state = foldGraph(this.#state, events);
    this.#log = withLive(this.#log, events);
    this.#show({});
  }

  async #loadHistory(signal: AbortSignal): Promise<void> {
    if (this.#loading) return;
    this.#loading = true;
    this.#historyError = undefined;
    let shown = 0;
    try {
      while (
        !signal.aborted &&
        !this.#isComplete() &&
        !isFull(this.#log) &&
        reach(this.#log) < this.#loadUntil
      ) {
        if (reach(this.#log) >= shown * (1 + SHOWN_GROWTH)) {
          this.#show({});
          shown = reach(this.#log);
        }
        const { items, next } = await retryWhileBusy(() => this.#source.readEvents(this.#cursor), signal);
        const before = reach(this.#log);
        this.#log = withHistory(this.#log, items);
        // The last page has no next cursor, so it is read again when there are more events; known ones are skipped.
        if (next !== undefined) this.#cursor = next;
        else if (reach(this.#log) === before) break;
      }
    } catch (error) {
      if (!signal.aborted) this.#historyError = error;
    }
    this.#loading = false;
    // A restart leaves a running load in place, so the load continues with the signal of the restart.
    const current = this.#following.signal;
    if (signal.aborted && !current.aborted) return this.#loadHistory(current);
    if (!signal.aborted) this.#show({});
  }

  #isComplete(): boolean {
    return this.#state !== undefined && reach(this.#log) >= this.#state.head;
  }

  #show(change: Partial<Pick<FollowedState, 'live' | 'error'>>): void {
    const { status = '', head = 0, steps = NOTHING.steps } = this.#state ?? {};
    this.#histories.add(this.#log.history);
    const graph = this.#plan && { ...this.#plan, status, head, steps: [...steps.values()] };
    const shown = this.shown();
    this.become({
      ...shown,
      ...change,
      graph: steps === shown.steps && head === shown.head ? (shown.graph ?? graph) : graph,
      steps,
      head,
      events: this.#log.history,
      histories: this.#histories.byKey,
      history: {
        loading: this.#loading || !this.#hasStarted,
        complete: this.#isComplete(),
        full: isFull(this.#log),
        error: this.#historyError,
      },
    });
  }
}

/**
 * Repeats a request that the API could not answer temporarily, for example while its worker is replaced.
 *
 * @throws the error of the last attempt; the first error if it is permanent
 */
async function retryWhileBusy<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted || !isPassing(error)) throw error;
      const requestedMs = error instanceof ApiError ? (error.problem.retryAfterMs ?? 0) : 0;
      await new Promise((resolve) => setTimeout(resolve, Math.max(pauseMs, requestedMs)));
      if (signal.aborted) throw error;
    }
  }
  return ask();
}
