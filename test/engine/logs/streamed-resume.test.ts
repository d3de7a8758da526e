/** Writer and reader of streamed text against each other: crashes, lost writes, lost answers and cuts at any place. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { LogTotals } from '../../../packages/cairn/src/core/logs/segment.ts';
import { isLogLine, type StoredLine } from '../../../packages/cairn/src/core/logs/text.ts';
import { StreamMask } from '../../../packages/cairn/src/core/secrets/stream-mask.ts';
import { RunLog } from '../../../packages/cairn/src/engine/drive/bodies/run-log.ts';
import type { LogStore } from '../../../packages/cairn/src/ports/runs/log-store.ts';
import { TextReader } from './text-reader.ts';

const SECRETS = ['abcab', 'bcc'];
const STEP = 'talk[model]';

/** The durable part: the documents, and the totals of the newest snapshot. */
class Stored implements LogStore {
  readonly documents = new Map<string, readonly StoredLine[]>();
  totals: LogTotals | undefined;

  write({ segment, totals }: NonNullable<ReturnType<RunLog['take']>>): void {
    this.totals = totals;
    if (segment) this.documents.set(segment.id, segment.lines);
  }

  async readLogs(_runId: string, from = '', limit: number) {
    return [...this.documents]
      .filter(([id]) => id >= from)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, limit)
      .map(([id, lines]) => ({ id, lines }));
  }
}

class Writer {
  readonly #stored: Stored;
  #log: RunLog;
  #text: ReturnType<RunLog['textOf']>;
  #epoch = 1;
  #attempt = 1;
  #at = 0;
  /** Text of the attempt that continues. */
  streamed = '';

  constructor(stored: Stored) {
    this.#stored = stored;
    this.#log = this.#dispatch();
    this.#text = this.#begin();
  }

  emit(text: string): void {
    this.streamed += text;
    this.#at += 1;
    this.#text.add(text, this.#at);
  }

  alsoLogs(): void {
    this.#log.of({ step: 'other', revision: 1, attempt: 1 })({ at: this.#at, level: 'info', message: 'x' });
  }

  write(how: 'written' | 'lost' | 'answer lost'): void {
    const taken = this.#log.take();
    if (taken && how !== 'lost') this.#stored.write(taken);
    if (how !== 'written') this.#log.putBack();
  }

  crash(): void {
    this.#epoch += 1;
    this.#log = this.#dispatch();
    this.#text = this.#begin();
  }

  fail(): void {
    this.#text.end(false, this.#at);
    this.#attempt += 1;
    this.#text = this.#begin();
  }

  succeed(): void {
    this.#text.end(true, this.#at);
    expect(this.#log.isUrgent).toBe(this.streamed !== '');
    this.write('written');
  }

  #dispatch(): RunLog {
    const log = new RunLog(this.#stored.totals);
    log.begin(this.#epoch, SECRETS);
    return log;
  }

  #begin() {
    this.streamed = '';
    const by = { step: STEP, revision: 1, attempt: this.#attempt };
    this.#log.begun(by, this.#at);
    return this.#log.textOf(by);
  }
}

test('a reader assembles the text of the attempt that survived', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '🤖', '\n'), maxLength: 12 });
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('emit' as const), text }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'log' as const }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('write' as const),
        how: fc.constantFrom('written' as const, 'lost' as const, 'answer lost' as const),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'crash' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'fail' as const }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('read' as const), lines: fc.nat(4) }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const stored = new Stored();
      const writer = new Writer(stored);
      const reader = new TextReader(stored, 'run');
      for (const one of steps) {
        if (one.kind === 'emit') writer.emit(one.text);
        else if (one.kind === 'log') writer.alsoLogs();
        else if (one.kind === 'write') writer.write(one.how);
        else if (one.kind === 'crash') writer.crash();
        else if (one.kind === 'fail') writer.fail();
        else await reader.read(one.lines);
      }
      writer.succeed();
      await reader.read();
      const mask = new StreamMask(SECRETS);
      const whole = mask.push(writer.streamed) + mask.end();
      const shown = reader.texts.get(STEP);
      expect(shown?.text ?? '').toBe(whole);
      if (whole !== '') expect(shown?.state).toBe('whole');
      const kept = [...stored.documents.values()].flat().filter(isLogLine).length;
      expect(reader.logged).toBe(kept);
    }),
    { numRuns: 500 },
  );
});
