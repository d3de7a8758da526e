/** A log that a test can read. */
import type { Clock } from '../../ports/clock.ts';
import type { Log, LogFields } from '../../ports/log.ts';

export interface CollectedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly event: string;
  readonly fields: LogFields;
  /** Simulated time, epoch ms. */
  readonly at: number;
}

/** Newest lines that are kept, so that memory stays bounded. */
const MAX_LINES = 10_000;

export class CollectedLog implements Log {
  readonly #lines: CollectedLine[] = [];
  readonly #clock: Pick<Clock, 'now'>;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  get lines(): readonly CollectedLine[] {
    return this.#lines;
  }

  debug(event: string, fields?: LogFields): void {
    this.#add('debug', event, fields);
  }

  info(event: string, fields?: LogFields): void {
    this.#add('info', event, fields);
  }

  warn(event: string, fields?: LogFields): void {
    this.#add('warn', event, fields);
  }

  error(event: string, fields?: LogFields): void {
    this.#add('error', event, fields);
  }

  #add(level: CollectedLine['level'], event: string, fields: LogFields = {}): void {
    if (this.#lines.length === MAX_LINES) this.#lines.shift();
    this.#lines.push(Object.freeze({ level, event, fields, at: this.#clock.now() }));
  }
}
