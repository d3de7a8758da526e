/**
 * One listening stream: its targets, and their updates. Each update is one step of the event loop and moves all targets to the
 * same moment. It is sent once that moment is durable; the next one waits until the client accepts it. Changes meanwhile are kept
 * by name only, up to a limit.
 *
 * Must not: know gRPC, or the format of requests.
 */
import type { Meter } from '../../meter.ts';
import { Code, invalid, StatusError } from '../../model/status.ts';
import type { Database } from '../database.ts';
import { runOfBody } from '../metering.ts';
import { ChangeSet } from './change-set.ts';
import type { SeenUpTo } from './resume-token.ts';
import { type Changed, Target, type TargetChange, type TargetScope } from './target.ts';
import {
  consistent,
  countOf,
  targetAdded,
  targetCurrent,
  targetRemoved,
  targetReset,
} from './target-state.ts';

/** Targets of one stream. Each keeps the names of its documents. */
const MAX_TARGETS = 1_000;
/** Changed names that are kept between two updates; with more, all documents are compared. */
const MAX_PENDING = 20_000;
/** Interval of messages without changes, as in production; clients treat two silent minutes as a lost stream. */
const QUIET_MS = 30_000;

export interface TargetRequest {
  /** 0: the server chooses an id. */
  readonly id: number;
  readonly scope: TargetScope;
  readonly once: boolean;
  /** State the client has seen; without an incarnation, of any database. `unknown`: one of another server. */
  readonly since: { readonly time: number; readonly incarnation: string | undefined } | 'unknown' | undefined;
  /** Number of documents the client held at that state. */
  readonly expectedCount: number | undefined;
}

type ListenOrder =
  | { readonly kind: 'add'; readonly request: TargetRequest }
  | { readonly kind: 'refuse'; readonly id: number; readonly why: StatusError }
  | { readonly kind: 'remove'; readonly id: number };

interface ListenerDeps {
  readonly database: Database;
  readonly meter: Meter;
  /** Resolves when all commits so far are durable. */
  readonly durable: () => Promise<void> | undefined;
  /** Sends a message; resolves when the client can take the next. */
  readonly send: (message: object) => Promise<void> | undefined;
  /** Called after an unexpected error; the stream must end. */
  readonly fail: (error: unknown) => void;
}

export class Listener {
  readonly #deps: ListenerDeps;
  readonly #targets = new Map<number, Target>();
  readonly #unwatch: () => void;
  readonly #quiet: NodeJS.Timeout;
  #orders: ListenOrder[] = [];
  #pending: Set<string> | 'everything' = new Set();
  #isQuiet = false;
  #isWorking = false;
  #isClosed = false;

  constructor(deps: ListenerDeps) {
    this.#deps = deps;
    this.#unwatch = deps.database.watch((names) => this.#note(names));
    this.#quiet = setInterval(() => {
      this.#isQuiet = true;
      this.#wake();
    }, QUIET_MS);
    this.#quiet.unref();
  }

  add(request: TargetRequest): void {
    this.#order({ kind: 'add', request });
  }

  /** Reports an invalid target in its turn. */
  refuse(id: number, why: StatusError): void {
    this.#order({ kind: 'refuse', id, why });
  }

  remove(id: number): void {
    this.#order({ kind: 'remove', id });
  }

  close(): void {
    this.#isClosed = true;
    this.#unwatch();
    clearInterval(this.#quiet);
    this.#targets.clear();
  }

  #order(order: ListenOrder): void {
    this.#orders.push(order);
    this.#wake();
  }

  /** Ignores commits that concern no target, because each commit reaches the listeners of all clients. */
  #note(names: readonly string[]): void {
    const concerning = names.filter((name) => this.#concerns(name));
    if (concerning.length === 0) return;
    if (this.#pending !== 'everything') {
      for (const name of concerning) this.#pending.add(name);
      if (this.#pending.size > MAX_PENDING) this.#pending = 'everything';
    }
    this.#wake();
  }

  #concerns(name: string): boolean {
    for (const target of this.#targets.values()) if (target.mayShow(name)) return true;
    return false;
  }

  /** Defers the update to the end of the current event-loop step, so that one update has all its commits. */
  #wake(): void {
    if (this.#isWorking || this.#isClosed) return;
    this.#isWorking = true;
    setImmediate(() => {
      this.#work().catch((error: unknown) => {
        if (!this.#isClosed) this.#deps.fail(error);
      });
    });
  }

  get #isDue(): boolean {
    const changed = this.#pending === 'everything' || this.#pending.size > 0;
    return !this.#isClosed && (changed || this.#orders.length > 0 || this.#isQuiet);
  }

  async #work(): Promise<void> {
    while (this.#isDue) {
      const messages = this.#update();
      await this.#deps.durable();
      for (const message of messages) {
        if (this.#isClosed) return;
        await this.#deps.send(message);
      }
    }
    this.#isWorking = false;
  }

  /** Messages of all changes, as of one moment. */
  #update(): object[] {
    const { database } = this.#deps;
    const seen = { incarnation: database.incarnation, time: database.readTime() };
    const messages = [...this.#changes(seen)];
    const orders = this.#orders;
    this.#orders = [];
    for (const order of orders) messages.push(...this.#carryOut(order, seen));
    const isQuiet = this.#isQuiet;
    this.#isQuiet = false;
    const isCurrent = this.#targets.size > 0 && (messages.length > 0 || isQuiet);
    if (isCurrent) messages.push(consistent(seen));
    for (const target of this.#targets.values()) if (target.once) messages.push(this.#drop(target.id));
    return messages;
  }

  *#changes(seen: SeenUpTo): Generator<object> {
    const changed: Changed = this.#pending;
    this.#pending = new Set();
    if (changed !== 'everything' && changed.size === 0) return;
    const set = new ChangeSet();
    for (const target of this.#targets.values()) {
      const changes = target.update(this.#deps.database, changed);
      this.#bill(changes);
      set.add(target, changes);
    }
    yield* set.messages(this.#deps.database, seen.time);
  }

  #carryOut(order: ListenOrder, seen: SeenUpTo): object[] {
    if (order.kind === 'remove') return [this.#drop(order.id)];
    if (order.kind === 'refuse') return [targetRemoved(order.id, order.why)];
    const { request } = order;
    const id = request.id === 0 ? this.#freeId() : request.id;
    // Throws, because refusing the id would end the existing target.
    if (this.#targets.has(id)) throw invalid(`Target ${id} already exists.`);
    try {
      return this.#begin({ ...request, id }, seen);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return [targetRemoved(id, error)];
    }
  }

  #begin({ id, scope, once, since, expectedCount }: TargetRequest, seen: SeenUpTo): object[] {
    if (this.#targets.size >= MAX_TARGETS) {
      throw new StatusError(Code.RESOURCE_EXHAUSTED, `A stream can have at most ${MAX_TARGETS} targets.`);
    }
    const { database } = this.#deps;
    const target = new Target(id, scope, once);
    const messages = [targetAdded(id)];
    const isResumed = since !== undefined && this.#resume(target, since);
    if (since && !isResumed) messages.push(targetReset(id));
    const mayHoldOthers = isResumed ? expectedCount !== undefined && expectedCount !== target.size : !since;
    const changes = target.update(database, 'everything');
    const missing = target.missing();
    this.#bill(changes);
    if (changes.length === 0 && !isResumed) this.#deps.meter.otherReads('Listen', undefined, 1);
    const set = new ChangeSet();
    set.add(target, changes);
    const changed = new Set(changes.map(({ name }) => name));
    set.addMissing(
      target,
      missing.filter((name) => !changed.has(name)),
    );
    messages.push(...set.messages(database, seen.time));
    // After an interrupted reset the client may still hold old documents of a query. A documents target reports each document anyway.
    if (mayHoldOthers && (isResumed || scope.kind === 'query')) messages.push(countOf(id, target.size));
    messages.push(targetCurrent(id, seen));
    this.#targets.set(id, target);
    return messages;
  }

  /** False if the changes since then are not known. */
  #resume(target: Target, since: NonNullable<TargetRequest['since']>): boolean {
    const { database } = this.#deps;
    if (since === 'unknown') return false;
    if (since.incarnation !== undefined && since.incarnation !== database.incarnation) return false;
    if (!database.remembers(since.time)) return false;
    target.resume(database, database.at(since.time));
    return true;
  }

  #drop(id: number): object {
    this.#targets.delete(id);
    return targetRemoved(id);
  }

  #freeId(): number {
    let id = 1;
    while (this.#targets.has(id)) id++;
    return id;
  }

  /** A sent document counts as a read, a deleted one does not. */
  #bill(changes: readonly TargetChange[]): void {
    for (const { name, stored } of changes) {
      if (stored) this.#deps.meter.read('Listen', name, runOfBody(name, stored.body));
    }
  }
}
