/**
 * The only way to append to a run. A writer queue per run and process (J1): appends that arrive during a commit share
 * the next one. Resolves unknown outcomes by sending the same bytes again (J8), folds foreign events and decides again
 * (J2), and stops permanently once another process holds the lease (J3).
 *
 * Must not: decide anything about a run; appended events come from the callers' `Decide` functions.
 */
import { type Backoff, backoffBoundMs, halfJitterMs } from '../core/decisions/retry.ts';
import type { RunEvent } from '../core/run/events.ts';
import { reduce } from '../core/run/reduce/index.ts';
import type { RunState } from '../core/run/state.ts';
import { mustWriteSnapshot } from '../core/run/wake.ts';
import { type Clock, pause } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { LoadedRun, MetadataUpdate, RunStore, Version } from '../ports/run-store.ts';
import type { EventBus } from '../ports/runs/event-bus.ts';
import { OutcomeUnknown } from '../ports/store-errors.ts';
import { assembleBatch, type CommitBatch, type Decide } from './batch.ts';
import { measure } from './measure.ts';
import type { BodyUpdates, JournalOptions } from './options.ts';

export interface JournalDeps {
  readonly store: RunStore;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly metrics: Metrics;
  readonly log: Log;
  /**
   * Destination of published events; absent: none. An append only records that they are unpublished: dispatches publish.
   */
  readonly bus?: EventBus | undefined;
  /** Called before each write; throws if a body has damaged the language's built-ins. Absent: no check. */
  readonly assertIntact?: (() => void) | undefined;
}

/** Another worker took the run over: this writer must not append any more. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** Another writer changed a ledger row of the append: read it, and decide again. */
export class EffectMoved extends Error {
  override readonly name = 'EffectMoved';
}

export interface Appended {
  /** The newest state known when the append was settled. */
  readonly state: RunState;
  /** Events added by this append; empty if its decision added none. */
  readonly events: readonly RunEvent[];
  /** Version of the ledger rows in the commit, if known. */
  readonly effectsVersion?: Version | undefined;
}

/** Tail events read at once after a conflict; more are read page by page. */
const TAIL_PAGE = 200;
const BACKOFF: Backoff = { initialMs: 20, factor: 2, capMs: 1_000 };
/** Pauses after conflicts double up to this attempt. They stay below a third of a second, which allows twenty tries in 7 s. */
const LAST_LONGER_PAUSE = 4;

interface AppendJob {
  readonly kind: 'append';
  readonly decide: Decide;
  readonly done: PromiseWithResolvers<Appended>;
}

type Job =
  | AppendJob
  /** `snapshots`: number of snapshots written before the request. */
  | { readonly kind: 'touch'; readonly snapshots: number; readonly done: PromiseWithResolvers<Appended> }
  | { readonly kind: 'refresh'; readonly done: PromiseWithResolvers<Appended> };

type BodyUpdate = ReturnType<BodyUpdates['take']>;

type CommitEnd =
  | { readonly kind: 'durable'; readonly effectsVersion?: Version | undefined }
  | { readonly kind: 'overtaken' | 'effect_moved' };

export class RunJournal {
  readonly #deps: JournalDeps;
  readonly #options: JournalOptions;
  readonly #jobs: Job[] = [];
  #state: RunState;
  readonly #publishedSeq: number | undefined;
  #snapshotVersion: Version | undefined;
  #snapshotHead: number;
  #lastSnapshotAt: number;
  #snapshots = 0;
  #lastCommitAt: number;
  #foreignEvents = 0;
  #holding = false;
  #working = false;
  #failure: Error | undefined;

  constructor(deps: JournalDeps, loaded: LoadedRun, options: JournalOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#state = loaded.state;
    // A run that began while events were published keeps its watermark when they no longer are.
    this.#publishedSeq = loaded.metadata.publishedSeq ?? (deps.bus ? 0 : undefined);
    this.#snapshotVersion = loaded.snapshotVersion;
    this.#snapshotHead = loaded.snapshotHead;
    this.#lastSnapshotAt = this.#lastCommitAt = deps.clock.now();
  }

  /** The newest state this writer knows. */
  get state(): RunState {
    return this.#state;
  }

  /** Version of the newest snapshot write of this writer, if known. */
  get snapshotVersion(): Version | undefined {
    return this.#snapshotVersion;
  }

  /** Epoch ms of the newest snapshot write, and of the newest commit, of this writer (or its start). */
  get lastSnapshotAt(): number {
    return this.#lastSnapshotAt;
  }
  get lastCommitAt(): number {
    return this.#lastCommitAt;
  }

  /** True if the writer no longer appends: callers then get the reason. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Number of folded events of other writers; a change means that the state has changed. */
  get foreignEvents(): number {
    return this.#foreignEvents;
  }

  /** True while the snapshot document is behind the journal. */
  get lagging(): boolean {
    return this.#snapshotHead < this.#state.head;
  }

  /**
   * Resolves once the events of `decide` are known to be durable. Rejects with the error of `decide`, with
   * `EffectMoved`, with `LeaseLost`, or with `OutcomeUnknown` when patience ended (then the lease will expire).
   */
  append(decide: Decide): Promise<Appended> {
    return this.#enqueue({ kind: 'append', decide, done: Promise.withResolvers() });
  }

  /** Writes the snapshot without an event (J9): flush and heartbeat in one. */
  touch(): Promise<Appended> {
    return this.#enqueue({ kind: 'touch', snapshots: this.#snapshots, done: Promise.withResolvers() });
  }

  /** Reads events of other writers, so that a dispatch without anything to commit notices a cancel. */
  refresh(): Promise<Appended> {
    return this.#enqueue({ kind: 'refresh', done: Promise.withResolvers() });
  }

  #enqueue(job: Job): Promise<Appended> {
    if (this.#failure) return Promise.reject(this.#failure);
    this.#jobs.push(job);
    if (!this.#working) {
      this.#working = true;
      // The work starts a turn later, so that steps which end together share the first commit as well.
      queueMicrotask(() => void this.#work());
    }
    return job.done.promise;
  }

  async #work(): Promise<void> {
    try {
      while (this.#jobs.length > 0) await this.#next();
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
      for (const job of this.#jobs.splice(0)) job.done.reject(this.#failure);
    } finally {
      this.#working = false;
    }
  }

  async #next(): Promise<void> {
    // The check precedes the first use of a built-in, because a broken one could keep every job on the queue.
    this.#deps.assertIntact?.();
    this.#assertHolding();
    const job = this.#jobs[0];
    if (job?.kind === 'append') return this.#commitAppends();
    // Skipped if an earlier commit has written the snapshot meanwhile, because that extended the lease too.
    if (job?.kind === 'touch') await (job.snapshots === this.#snapshots && this.#touchOnce());
    else await this.#readTail();
    this.#assertHolding();
    this.#jobs.shift();
    job?.done.resolve({ state: this.#state, events: [] });
  }

  async #commitAppends(): Promise<void> {
    const deadline = this.#deps.clock.now() + this.#options.patienceMs;
    for (let attempt = 0; ; attempt += 1) {
      const jobs = this.#leadingAppends();
      const now = this.#deps.clock.now();
      const batch = assembleBatch({
        state: this.#state,
        proposals: jobs.map((job) => job.decide),
        now,
        newEventId: () => this.#deps.random.token(),
        owner: this.#options.owner,
      });
      if (batch.events.length === 0) return this.#settle(jobs, batch);
      const end = await this.#commit(batch, deadline);
      if (end.kind === 'durable') return this.#settle(jobs, batch, end.effectsVersion);
      this.#deps.metrics.conflict({ tenantId: this.#state.tenantId, leased: this.#holding });
      this.#assertHolding();
      if (end.kind === 'effect_moved') return this.#refuseEffects(jobs, batch);
      if (this.#deps.clock.now() >= deadline)
        throw new OutcomeUnknown('append', 'too many concurrent writes to the run');
      // The lease holder retries at once. A writer without the lease pauses to give it room, and reads the tail again, because
      // what it read before the pause is out of date.
      if (!this.#holding && attempt > 0) {
        await this.#backOff(Math.min(attempt, LAST_LONGER_PAUSE));
        await this.#readTail();
      }
    }
  }

  /** `overtaken`: foreign events took the sequence numbers of the batch, which will never be durable; they are folded. */
  async #commit(batch: CommitBatch, deadline: number): Promise<CommitEnd> {
    const now = this.#deps.clock.now();
    const due = now - this.#lastSnapshotAt >= this.#options.flushMs;
    const isWanted = due || this.#options.bodies?.isUrgent === true;
    const withSnapshot =
      mustWriteSnapshot(this.#state, batch.after) || (isWanted && this.#isHolder(batch.after));
    const update = withSnapshot ? this.#bodyUpdateFor(batch.after) : {};
    const result = await this.#sendUntilKnown(
      () =>
        this.#deps.store.commit({
          runId: this.#state.id,
          events: batch.events,
          checkpoints: batch.checkpoints,
          steps: batch.steps,
          effects: batch.effects.length > 0 ? batch.effects : undefined,
          ...(withSnapshot ? { snapshot: batch.after, ...this.#metadata(batch.after, update) } : {}),
        }),
      deadline,
    );
    const committed = result.kind === 'committed' ? result : undefined;
    const author = committed ? 'us' : await this.#whoWrote(batch);
    if (author !== 'us') {
      if (withSnapshot) this.#options.bodies?.putBack();
      return { kind: author === 'others' || batch.effects.length === 0 ? 'overtaken' : 'effect_moved' };
    }
    measure(this.#deps, batch);
    this.#options.follower?.take(batch.events);
    // Otherwise the state is already up to date: the tail folded to recognise our events has them, and later foreign ones.
    if (committed) this.#state = batch.after;
    this.#lastCommitAt = this.#deps.clock.now();
    if (withSnapshot) this.#noteSnapshot(batch.after.head, committed?.snapshotVersion);
    // The batch's own state decides, not later foreign events: a writer that was taken over has not released the run, and must stop.
    this.#holding = this.#isHolder(batch.after);
    return { kind: 'durable', effectsVersion: committed?.effectsVersion };
  }

  /**
   * After a refusal: determines whether our own append was applied with a lost response (J8), or another's was. Folds
   * the tail either way. `nobody`: the conflict was not an event.
   */
  async #whoWrote({ events }: CommitBatch): Promise<'us' | 'others' | 'nobody'> {
    const [first] = await this.#readTail();
    if (!first) return 'nobody';
    return first.id === events[0]?.id ? 'us' : 'others';
  }

  /** Rejects the appends whose ledger rows another writer changed: their callers decide again. The others are sent again. */
  #refuseEffects(jobs: readonly AppendJob[], { results }: CommitBatch): void {
    results.forEach((result, i) => {
      const job = jobs[i];
      if (!job || result.kind !== 'appended' || !result.withEffects) return;
      this.#jobs.splice(this.#jobs.indexOf(job), 1);
      job.done.reject(new EffectMoved(`run ${this.#state.id}: a ledger row was changed by another writer`));
    });
  }

  async #touchOnce(): Promise<void> {
    const deadline = this.#deps.clock.now() + this.#options.patienceMs;
    // No heartbeat is sent after the release, because another process may have marked the run as settled since.
    while (this.#isHolder(this.#state)) {
      const seen = this.#snapshotVersion;
      if (seen !== undefined) {
        const state = this.#state;
        const update = this.#bodyUpdateFor(state);
        const result = await this.#sendUntilKnown(
          () =>
            this.#deps.store.touch({
              runId: state.id,
              seen,
              snapshot: state,
              ...this.#metadata(state, update),
            }),
          deadline,
        );
        if (result.kind === 'touched') return this.#noteSnapshot(state.head, result.snapshotVersion);
        this.#options.bodies?.putBack();
      }
      await this.#reload();
      this.#assertHolding();
    }
  }

  /** Reads the snapshot after a concurrent write, or if the version of our own write is unknown. */
  async #reload(): Promise<void> {
    const loaded = await this.#deps.store.load(this.#state.id);
    if (!loaded) throw new LeaseLost(`run ${this.#state.id} no longer exists`);
    if (loaded.state.head > this.#state.head) this.#foreignEvents += 1;
    if (loaded.state.head >= this.#state.head) this.#state = loaded.state;
    this.#snapshotVersion = loaded.snapshotVersion;
    this.#snapshotHead = loaded.snapshotHead;
  }

  async #readTail(): Promise<readonly RunEvent[]> {
    const tail: RunEvent[] = [];
    for (;;) {
      const page = await this.#deps.store.readEvents(this.#state.id, this.#state.head, TAIL_PAGE);
      for (const event of page) {
        this.#state = reduce(this.#state, event);
        if (event.writer === undefined || event.writer.owner !== this.#options.owner)
          this.#foreignEvents += 1;
      }
      this.#options.follower?.take(page);
      tail.push(...page);
      if (page.length < TAIL_PAGE) return tail;
    }
  }

  async #sendUntilKnown<T>(send: () => Promise<T>, deadline: number): Promise<T> {
    this.#deps.assertIntact?.();
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await send();
      } catch (error) {
        if (!(error instanceof OutcomeUnknown) || this.#deps.clock.now() >= deadline) throw error;
        await this.#backOff(attempt);
      }
    }
  }

  #backOff(attempt: number): Promise<void> {
    const bound = backoffBoundMs(BACKOFF, attempt + 1);
    return pause(this.#deps.clock, halfJitterMs(bound, this.#deps.random.unit()));
  }

  #leadingAppends(): AppendJob[] {
    const appends: AppendJob[] = [];
    for (const job of this.#jobs) {
      if (job.kind !== 'append') break;
      appends.push(job);
    }
    return appends;
  }

  #settle(jobs: readonly AppendJob[], batch: CommitBatch, effectsVersion?: Version): void {
    this.#jobs.splice(0, batch.results.length);
    batch.results.forEach((result, i) => {
      const done = jobs[i]?.done;
      if (result.kind === 'refused') done?.reject(result.error);
      else done?.resolve({ state: this.#state, events: result.events, effectsVersion });
    });
  }

  /** The commit that releases the lease has an update too, so that the next attempt continues from the newest progress. */
  #bodyUpdateFor(state: RunState): BodyUpdate {
    const isHolder = this.#isHolder(state);
    return ((isHolder || this.#holding) && this.#options.bodies?.take(!isHolder)) || {};
  }

  #metadata(state: RunState, update: BodyUpdate): { metadata?: MetadataUpdate } {
    const publishedSeq = this.#options.follower?.publishedUpTo(state.head) ?? this.#publishedSeq;
    const metadata = { ...(publishedSeq === undefined ? {} : { publishedSeq }), ...update };
    if (!this.#isHolder(state))
      return Object.keys(metadata).length === 0 ? {} : { metadata: { heartbeat: false, ...metadata } };
    const leaseExtendedTo = this.#deps.clock.now() + this.#options.leaseMs;
    return { metadata: { heartbeat: true, leaseExtendedTo, ...metadata } };
  }

  #noteSnapshot(head: number, version: Version | undefined): void {
    this.#snapshotHead = head;
    this.#snapshotVersion = version;
    this.#lastSnapshotAt = this.#deps.clock.now();
    this.#snapshots += 1;
  }

  #isHolder(state: RunState): boolean {
    return this.#options.owner !== undefined && state.lease?.owner === this.#options.owner;
  }

  #assertHolding(): void {
    if (this.#holding && !this.#isHolder(this.#state)) {
      throw new LeaseLost(`run ${this.#state.id} was taken over by another worker`);
    }
  }
}
