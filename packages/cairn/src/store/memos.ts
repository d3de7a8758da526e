/** Memos of step bodies in Firestore: one immutable document each. */
import { FieldPath } from '@google-cloud/firestore';
import { encodeKey } from '../core/encoding/keys.ts';
import { MAX_MEMOS } from '../core/run/limits.ts';
import { assertSoundMemo } from '../ports/commit-rules.ts';
import type { Memo, MemoStore } from '../ports/value-store.ts';
import { call, isTaken } from './call.ts';
import { memoCodec } from './codec/values.ts';
import type { Paths } from './paths.ts';

/** Memos read in one answer: at 256 KiB each it stays below 32 MiB. */
const MEMO_PAGE = 100;

export class FirestoreMemos implements MemoStore {
  readonly #paths: Paths;

  constructor(paths: Paths) {
    this.#paths = paths;
  }

  async createMemo(runId: string, memo: Memo): Promise<string> {
    assertSoundMemo(memo);
    const { step, revision, name, text } = memo;
    const what = `memo '${name}' of step ${step} of run ${runId}`;
    const document = this.#paths.memos(this.#paths.run(runId), step).doc(idOf(revision, name));
    try {
      await call(what, () => document.create(memoCodec.encode({ revision, name, value: text })));
      return text;
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
    const data = (await call(what, () => document.get())).data();
    if (!data) throw new Error(`${what} was there and is gone`);
    return memoCodec.decode(data, what).value;
  }

  async readMemos(runId: string, step: string, revision: number): Promise<ReadonlyMap<string, string>> {
    const what = `memos of step ${step} of run ${runId}`;
    // Ids of one revision lie together; a full stop is what follows the hyphen.
    const ofRevision = this.#paths
      .memos(this.#paths.run(runId), step)
      .orderBy(FieldPath.documentId())
      .endBefore(`${revision}.`)
      .limit(MEMO_PAGE);
    const memos = new Map<string, string>();
    for (let from = `${revision}-`; ; ) {
      const page = await call(what, () => ofRevision.startAfter(from).get());
      for (const found of page.docs) {
        const { name, value } = memoCodec.decode(found.data(), `memo ${found.id} of run ${runId}`);
        memos.set(name, value);
      }
      if (memos.size > MAX_MEMOS) throw new Error(`there are more than ${MAX_MEMOS} ${what}`);
      const last = page.docs.at(-1);
      if (!last || page.docs.length < MEMO_PAGE) return memos;
      from = last.id;
    }
  }
}

function idOf(revision: number, name: string): string {
  return encodeKey(`${revision}-${name}`);
}
