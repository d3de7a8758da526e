/** Memos of step bodies in Firestore: one immutable document each. */
import { FieldPath, type Query } from '@google-cloud/firestore';
import { MAX_MEMOS } from '../core/run/limits.ts';
import { assertSoundMemo } from '../ports/commit-rules.ts';
import type { Page, PageRequest, RunStore } from '../ports/run-store.ts';
import { type Memo, type MemoStore, memoId, type RecordedMemo } from '../ports/value-store.ts';
import { call } from './call.ts';
import { memoCodec } from './codec/values.ts';
import { readPage } from './lists/pages.ts';
import type { Paths } from './paths.ts';
import { createdVersion } from './versioned-document.ts';

/** Memos read in one response: at 256 KiB each it stays below 32 MiB. */
const MEMO_PAGE = 100;

export class FirestoreMemos implements MemoStore, Pick<RunStore, 'listMemos'> {
  readonly #paths: Paths;

  constructor(paths: Paths) {
    this.#paths = paths;
  }

  async createMemo(runId: string, memo: Memo): Promise<string> {
    assertSoundMemo(memo);
    const { step, revision, name, text } = memo;
    const what = `memo '${name}' of step ${step} of run ${runId}`;
    const document = this.#paths.memos(this.#paths.run(runId), step).doc(memoId(revision, name));
    const members = memoCodec.encode({ revision, name, value: text });
    if (await createdVersion(what, () => document.create(members))) return text;
    const data = (await call(what, () => document.get())).data();
    if (!data) throw new Error(`${what} existed and is missing`);
    return memoCodec.decode(data, what).value;
  }

  async readMemos(runId: string, step: string, revision: number): Promise<ReadonlyMap<string, string>> {
    const what = `memos of step ${step} of run ${runId}`;
    const ofRevision = this.#ofRevision(runId, { step, revision }).limit(MEMO_PAGE);
    let last: string | undefined;
    const memos = new Map<string, string>();
    for (;;) {
      const next = last === undefined ? ofRevision : ofRevision.startAfter(last);
      const page = await call(what, () => next.get());
      for (const found of page.docs) {
        const { name, value } = memoCodec.decode(found.data(), `memo ${found.id} of run ${runId}`);
        memos.set(name, value);
      }
      if (memos.size > MAX_MEMOS) throw new Error(`there are more than ${MAX_MEMOS} ${what}`);
      last = page.docs.at(-1)?.id;
      if (page.docs.length < MEMO_PAGE) return memos;
    }
  }

  async listMemos(
    runId: string,
    { step, revision }: Pick<Memo, 'step' | 'revision'>,
    page: PageRequest,
  ): Promise<Page<RecordedMemo>> {
    return readPage(page, {
      list: 'memos',
      ordered: this.#ofRevision(runId, { step, revision }),
      startAfter: ([, id]) => [id],
      decode: (document, id, createdAt) => {
        const { name, value: text } = memoCodec.decode(document, `memo ${id} of run ${runId}`);
        return { step, revision, name, text, recordedAt: createdAt.toMillis() };
      },
      positionOf: (_memo, id) => [0, id],
    });
  }

  /** Ids of one revision are adjacent. A full stop is the next character after the hyphen. */
  #ofRevision(runId: string, { step, revision }: Pick<Memo, 'step' | 'revision'>): Query {
    return this.#paths
      .memos(this.#paths.run(runId), step)
      .where(FieldPath.documentId(), '>', `${revision}-`)
      .where(FieldPath.documentId(), '<', `${revision}.`)
      .orderBy(FieldPath.documentId());
  }
}
