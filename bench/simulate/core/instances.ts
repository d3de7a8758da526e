/**
 * The instances of a function: each serves several requests at a time with one processor. A request without room starts an
 * instance, up to the maximum; it waits for a limited time and is then refused. Pure.
 */
import type { EventQueue } from './event-queue.ts';
import { Fifo } from './fifo.ts';

interface InstanceLimits {
  readonly concurrency: number;
  readonly max: number;
  /** From the start of an instance until it serves. */
  readonly coldStartMs: number;
  /** Longest wait of a request for room; then it is answered 429. */
  readonly pendingMs: number;
  /** Interval of the check for overloaded processors, and their allowed utilisation. */
  readonly scaleEveryMs: number;
  readonly cpuTarget: number;
}

export interface Instance {
  serving: number;
  /** Time at which its processor has finished the accepted work. */
  cpuFreeAt: number;
  /** Start of the current service time. */
  busySince: number;
}

interface Waiting {
  readonly since: number;
  readonly begin: (instance: Instance) => void;
  readonly refuse: () => void;
  isOver: boolean;
}

export class Instances {
  readonly #events: EventQueue;
  readonly #limits: InstanceLimits;
  readonly #ready: Instance[] = [];
  readonly #waiting = new Fifo<Waiting>();
  #waitingNow = 0;
  #starting = 0;
  #cpuMs = 0;
  #next = 0;
  busyMs = 0;
  refusals = 0;
  /** Wait time of requests for room and for the processor, ms. */
  readonly waitedMs = { room: 0, cpu: 0 };

  /** @param warm number of instances at the start */
  constructor(events: EventQueue, limits: InstanceLimits, warm: number) {
    this.#events = events;
    this.#limits = limits;
    for (let n = 0; n < Math.min(warm, limits.max); n += 1) this.#ready.push(newInstance());
    this.#scaleLater();
  }

  get started(): number {
    return this.#ready.length + this.#starting;
  }

  get pending(): number {
    return this.#waitingNow;
  }

  /** Calls `begin` on an instance with room, now or later, or `refuse`. */
  enter(begin: (instance: Instance) => void, refuse: () => void): void {
    const free = this.#waitingNow === 0 ? this.#free() : undefined;
    if (free) {
      this.#serve(free, begin);
      return;
    }
    const waiting = { since: this.#events.now, begin, refuse, isOver: false };
    this.#waiting.add(waiting);
    this.#waitingNow += 1;
    this.#events.add(this.#events.now + this.#limits.pendingMs, () => this.#giveUp(waiting));
    if (this.#waitingNow > this.#starting * this.#limits.concurrency) this.#start();
  }

  leave(instance: Instance): void {
    instance.serving -= 1;
    if (instance.serving === 0) this.busyMs += this.#events.now - instance.busySince;
    this.#admit();
  }

  /** Uses the processor of the instance. Returns the ms until it is done. */
  compute(instance: Instance, ms: number): number {
    const { now } = this.#events;
    const waitMs = Math.max(0, instance.cpuFreeAt - now);
    instance.cpuFreeAt = now + waitMs + ms;
    this.#cpuMs += ms;
    this.waitedMs.cpu += waitMs;
    return waitMs + ms;
  }

  /** Service time of all instances until `now`, ms, including current service. */
  busyUntil(now: number): number {
    return this.#ready.reduce(
      (sum, { serving, busySince }) => sum + (serving > 0 ? now - busySince : 0),
      this.busyMs,
    );
  }

  #free(): Instance | undefined {
    const count = this.#ready.length;
    for (let n = 0; n < count; n += 1) {
      const instance = this.#ready[(this.#next + n) % count] as Instance;
      if (instance.serving >= this.#limits.concurrency) continue;
      this.#next = (this.#next + n + 1) % count;
      return instance;
    }
    return undefined;
  }

  #serve(instance: Instance, begin: (instance: Instance) => void): void {
    if (instance.serving === 0) instance.busySince = this.#events.now;
    instance.serving += 1;
    begin(instance);
  }

  #admit(): void {
    while (this.#waitingNow > 0) {
      const free = this.#free();
      if (!free) return;
      const waiting = this.#waiting.take() as Waiting;
      if (waiting.isOver) continue;
      waiting.isOver = true;
      this.#waitingNow -= 1;
      this.waitedMs.room += this.#events.now - waiting.since;
      this.#serve(free, waiting.begin);
    }
  }

  #giveUp(waiting: Waiting): void {
    if (waiting.isOver) return;
    waiting.isOver = true;
    this.#waitingNow -= 1;
    this.refusals += 1;
    this.waitedMs.room += this.#events.now - waiting.since;
    waiting.refuse();
  }

  #start(): void {
    if (this.started >= this.#limits.max) return;
    this.#starting += 1;
    // The start of an instance is billed as its service is.
    this.busyMs += this.#limits.coldStartMs;
    this.#events.add(this.#events.now + this.#limits.coldStartMs, () => {
      this.#starting -= 1;
      this.#ready.push(newInstance());
      this.#admit();
    });
  }

  /** Starts instances if the processors are overloaded. */
  #scaleLater(): void {
    const { scaleEveryMs, cpuTarget } = this.#limits;
    this.#events.add(this.#events.now + scaleEveryMs, () => {
      const wanted = Math.ceil(this.#cpuMs / (scaleEveryMs * cpuTarget));
      for (let n = this.started; n < wanted; n += 1) this.#start();
      this.#cpuMs = 0;
      this.#scaleLater();
    });
  }
}

const newInstance = (): Instance => ({ serving: 0, cpuFreeAt: 0, busySince: 0 });
