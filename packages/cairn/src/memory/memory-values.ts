/** Payloads and memos in memory; what {@link MemoryRunStore} promises of its methods holds for these as well. */
import type { PayloadRef } from '../core/run/events.ts';
import { MAX_MEMOS } from '../core/run/limits.ts';
import { payloadOf, textOf } from '../core/run/payload.ts';
import { assertSoundMemo, assertSoundPayload } from '../ports/commit-rules.ts';
import type { Memo, MemoStore, PayloadStore } from '../ports/value-store.ts';
import type { MemoryDatabase } from './memory-database.ts';

export class MemoryValues implements PayloadStore, MemoStore {
  readonly #db: MemoryDatabase;

  constructor(db: MemoryDatabase) {
    this.#db = db;
  }

  async writePayload(runId: string, text: string): Promise<PayloadRef> {
    assertSoundPayload(text);
    const { ref, chunks } = payloadOf(text);
    this.#db.payloads.set(keyOf(runId, ref.sha256), chunks);
    this.#db.payloadTimes.set(keyOf(runId, ref.sha256), this.#db.now());
    return Object.freeze(ref);
  }

  async readPayload(runId: string, ref: PayloadRef): Promise<string> {
    const chunks = this.#db.payloads.get(keyOf(runId, ref.sha256)) ?? [];
    return textOf(ref, chunks, `payload ${ref.sha256} of run ${runId}`);
  }

  async deletePayload(runId: string, { sha256 }: PayloadRef): Promise<void> {
    this.#db.payloads.delete(keyOf(runId, sha256));
  }

  async createMemo(runId: string, memo: Memo): Promise<string> {
    assertSoundMemo(memo);
    const { step, revision, name, text } = memo;
    const key = keyOf(runId, step, revision);
    const memos = this.#db.memos.get(key) ?? new Map<string, string>();
    this.#db.memos.set(key, memos);
    const recorded = memos.get(name);
    if (recorded === undefined) memos.set(name, text);
    return recorded ?? text;
  }

  async readMemos(runId: string, step: string, revision: number): Promise<ReadonlyMap<string, string>> {
    const memos = new Map(this.#db.memos.get(keyOf(runId, step, revision)));
    if (memos.size > MAX_MEMOS) {
      throw new Error(`there are more than ${MAX_MEMOS} memos of step ${step} of run ${runId}`);
    }
    return memos;
  }
}

function keyOf(...parts: readonly (string | number)[]): string {
  return JSON.stringify(parts);
}
