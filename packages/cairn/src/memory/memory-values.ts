/** Payloads and memos in memory: the part of the run store that does not depend on runs. */
import type { PayloadRef } from '../core/run/events.ts';
import { MAX_MEMOS } from '../core/run/limits.ts';
import { payloadOf, payloadText } from '../core/run/payload.ts';
import { assertSoundMemo, assertSoundPayload } from '../ports/commit-rules.ts';
import type { Page, PageRequest, RunStore } from '../ports/run-store.ts';
import {
  type Memo,
  type MemoStore,
  memoId,
  type PayloadStore,
  type RecordedMemo,
} from '../ports/value-store.ts';
import type { StoredMemo } from './memory-database.ts';
import { MemoryStore } from './memory-store.ts';
import { ascending, sortedPage } from './paging.ts';

export class MemoryValues
  extends MemoryStore
  implements PayloadStore, MemoStore, Pick<RunStore, 'listMemos'>
{
  async writePayload(runId: string, text: string): Promise<PayloadRef> {
    assertSoundPayload(text);
    const { ref, chunks } = payloadOf(text);
    this.db.payloads.set(keyOf(runId, ref.sha256), chunks);
    this.db.payloadTimes.set(keyOf(runId, ref.sha256), this.db.now());
    return Object.freeze(ref);
  }

  async readPayload(runId: string, ref: PayloadRef): Promise<string> {
    const chunks = this.db.payloads.get(keyOf(runId, ref.sha256)) ?? [];
    return payloadText(ref, chunks, `payload ${ref.sha256} of run ${runId}`);
  }

  async deletePayload(runId: string, { sha256 }: PayloadRef): Promise<void> {
    this.db.payloads.delete(keyOf(runId, sha256));
  }

  async createMemo(runId: string, memo: Memo): Promise<string> {
    assertSoundMemo(memo);
    const { step, revision, name, text } = memo;
    const key = keyOf(runId, step, revision);
    const memos = this.db.memos.get(key) ?? new Map<string, StoredMemo>();
    this.db.memos.set(key, memos);
    const recorded = memos.get(name);
    if (recorded === undefined) memos.set(name, { text, recordedAt: this.db.now() });
    return recorded?.text ?? text;
  }

  async readMemos(runId: string, step: string, revision: number): Promise<ReadonlyMap<string, string>> {
    const memos = this.#memosOf(runId, { step, revision });
    if (memos.length > MAX_MEMOS) {
      throw new Error(`there are more than ${MAX_MEMOS} memos of step ${step} of run ${runId}`);
    }
    return new Map(memos.map(({ name, text }) => [name, text]));
  }

  async listMemos(
    runId: string,
    of: Pick<Memo, 'step' | 'revision'>,
    page: PageRequest,
  ): Promise<Page<RecordedMemo>> {
    return sortedPage(this.#memosOf(runId, of), page, {
      list: 'memos',
      positionOf: ({ revision, name }) => [0, memoId(revision, name)],
      compare: ascending,
    });
  }

  #memosOf(runId: string, { step, revision }: Pick<Memo, 'step' | 'revision'>): readonly RecordedMemo[] {
    const found = this.db.memos.get(keyOf(runId, step, revision)) ?? [];
    return [...found].map(([name, memo]) => ({ step, revision, name, ...memo }));
  }
}

function keyOf(...parts: readonly (string | number)[]): string {
  return JSON.stringify(parts);
}
