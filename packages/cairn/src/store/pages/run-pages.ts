/**
 * Reads and writes the pages of run documents. Pages are written in the commit that first references them, and deleted
 * in the one that no longer does, so that a referenced page is never missing. Both are decided from the names in the
 * run document, whose version is the precondition of the commit: a concurrent write of the document restarts it.
 *
 * Must not: decide what goes to pages (spill.ts).
 */

import {
  type DocumentReference,
  type DocumentSnapshot,
  FieldValue,
  type Firestore,
} from '@google-cloud/firestore';
import { BoundedMap } from '../../core/bounded-map.ts';
import { type Cost, sum } from '../../core/cost/cost.ts';
import { sha256Hex } from '../../core/encoding/hash.ts';
import type { RunState } from '../../core/run/state.ts';
import type { Version } from '../../ports/run-store.ts';
import { UndecodableDocument } from '../../ports/store-errors.ts';
import { call, isStale } from '../call.ts';
import type { Members } from '../codec/kinds.ts';
import { pageCodec } from '../codec/values.ts';
import { encodeCost } from '../codec/volatile-metadata.ts';
import { libraryBatch, type StoreBatch } from '../commits/store-batch.ts';
import type { Paths } from '../paths.ts';
import { versionOf } from '../version.ts';
import {
  namedBy,
  namesIn,
  PAGE_BUDGET,
  type PageBudget,
  type PagedList,
  type PageNames,
  pagesOf,
  restored,
  type Spilled,
  spill,
} from './spill.ts';

/** Pages read or written in one request: a page has up to 450 KiB, and Firestore takes 10 MiB. */
const PAGES_A_REQUEST = 20;
/** Pages written and deleted in one commit, beside its 320 other writes: Firestore takes 500. */
const MAX_COMMIT_PAGES = 170;
/** Number of runs remembered as having pages. A forgotten run may leave pages behind, which `check` reports. */
const MAX_PAGED = 10_000;
/** Maximum number of pages in one check or repair: with 128 KiB each, far more than the largest run has. */
export const MAX_PAGES = 1_000;
/** Maximum number of reads that miss a page because the run document was written meanwhile, about once a second. */
const MAX_READS = 5;

/** The page writes and deletes that go with the write of a snapshot. */
export interface PageWrites {
  /** Version of the run document when its names were read: the precondition of the write. */
  readonly seen: Version;
  /** Replaces encoded members. */
  readonly members: Members;
  readonly writes: number;
  readonly bytes: number;
  fill(batch: StoreBatch): void;
}

interface Placing {
  readonly spilled: Spilled | undefined;
  readonly storedPages: readonly string[];
  /** Stored pages that need not be written again. */
  readonly sound: ReadonlySet<string>;
  readonly cost: Cost | undefined;
}

interface SnapshotWrite {
  readonly run: DocumentReference;
  readonly snapshot: RunState;
  /** The encoded document, with all its members. */
  readonly members: Members;
  /** Cost that the write reports, including its pages; undefined: none. */
  readonly cost: Cost | undefined;
}

export class RunPages {
  readonly #db: Firestore;
  readonly #paths: Paths;
  readonly #newBatch: () => StoreBatch;
  readonly #budget: PageBudget;
  /** Runs with pages, the latest last. Their pages must be deleted once the document has room for everything again. */
  readonly #paged = new BoundedMap<string, true>(MAX_PAGED);

  constructor(
    db: Firestore,
    paths: Paths,
    newBatch: () => StoreBatch = () => libraryBatch(db),
    budget: PageBudget = PAGE_BUDGET,
  ) {
    this.#db = db;
    this.#paths = paths;
    this.#newBatch = newBatch;
    this.#budget = budget;
  }

  /**
   * The run document with its paged entries. Read again if a concurrent write deleted a page. Undefined: there is no such run.
   * `reads`: documents read, without the first.
   */
  async whole(found: DocumentSnapshot): Promise<{
    readonly found: DocumentSnapshot;
    readonly members: Members | undefined;
    readonly reads: number;
  }> {
    let document = found;
    let reads = 0;
    for (let attempt = 1; ; attempt += 1) {
      const members = document.data();
      const names = members && pagesOf(members);
      if (!names) return { found: document, members, reads };
      this.#paged.set(document.id, true);
      const wanted = namedBy(names);
      const texts = await this.read(document.ref, wanted);
      reads += wanted.length;
      if (texts.size === wanted.length)
        return { found: document, members: restored(members, names, texts), reads };
      const again = await call(`read of run ${document.id}`, () => document.ref.get());
      reads += 1;
      const isUnchanged = again.updateTime !== undefined && document.updateTime?.isEqual(again.updateTime);
      if (isUnchanged || attempt === MAX_READS) {
        const missing = wanted.find((name) => !texts.has(name));
        throw new UndecodableDocument(`run ${document.id} has no page ${missing}`);
      }
      document = again;
    }
  }

  /** One complete list of a run document that was already read. */
  async list(run: DocumentReference, members: Members, list: PagedList): Promise<Members> {
    const names = pagesOf(members);
    const wanted = names?.lists[list];
    if (!names || !wanted) return members;
    const only: PageNames = { of: names.of, lists: { [list]: wanted } };
    const texts = await this.read(run, wanted);
    if (texts.size < new Set(wanted).size)
      throw new UndecodableDocument(`run ${run.id} lacks pages of '${list}'`);
    return restored(members, only, texts);
  }

  /** The existing pages whose content matches their name. */
  async read(run: DocumentReference, names: readonly string[]): Promise<Map<string, string>> {
    const texts = new Map<string, string>();
    for (let from = 0; from < names.length; from += PAGES_A_REQUEST) {
      const some = names.slice(from, from + PAGES_A_REQUEST).map((name) => this.#paths.page(run, name));
      const read = await call(`read of pages of run ${run.id}`, () => this.#db.getAll(...some));
      for (const document of read) {
        const data = document.data();
        if (!data) continue;
        const { text } = pageCodec.decode(data, `page ${document.id} of run ${run.id}`);
        if (sha256Hex(text) !== document.id) {
          throw new UndecodableDocument(`page ${document.id} of run ${run.id} differs from what was written`);
        }
        texts.set(document.id, text);
      }
    }
    return texts;
  }

  /**
   * Writes a snapshot, without pages if the document has room for all of it. Retries if the document was written between the
   * read of its pages and the commit.
   *
   * @param isRefused true for a result that reports a failed precondition, as an error of `isStale` does; default: none does
   */
  async write<T>(
    wanted: SnapshotWrite,
    send: (pages?: PageWrites) => Promise<T>,
    isRefused: (result: T) => boolean = () => false,
  ): Promise<T> {
    const { run, snapshot, members } = wanted;
    const spilled = spill(members, snapshot, this.#budget);
    if (!spilled && !this.#paged.has(run.id)) return send();
    this.#paged.set(run.id, true);
    let seen: Version | undefined;
    for (;;) {
      const pages = await this.#toWrite(wanted, spilled);
      if (!pages) return send();
      const isLast = pages.seen === seen;
      seen = pages.seen;
      try {
        const result = await send(pages);
        if (isLast || !isRefused(result)) return result;
      } catch (error) {
        if (isLast || !isStale(error)) throw error;
      }
    }
  }

  /** Undefined: there is no such run. */
  async #toWrite(
    { run, cost }: SnapshotWrite,
    spilled: Spilled | undefined,
  ): Promise<PageWrites | undefined> {
    const [document] = await call(`read of the pages of run ${run.id}`, () =>
      this.#db.getAll(run, { fieldMask: ['pages'] }),
    );
    if (!document?.updateTime) return undefined;
    const before = namesIn(document.data() ?? {});
    const storedPages = before ? namedBy(before) : [];
    const seen = versionOf(document.updateTime);
    return {
      seen,
      ...(await this.#placed(run, { spilled, storedPages, sound: new Set(storedPages), cost })),
    };
  }

  /** The page writes of a repair. Existing pages are not trusted. */
  async toRepair(run: DocumentReference, spilled: Spilled | undefined): Promise<Omit<PageWrites, 'seen'>> {
    const { docs } = await call(`look for the pages of run ${run.id}`, () =>
      this.#paths.pages(run).limit(MAX_PAGES).select().get(),
    );
    const storedPages = docs.map(({ id }) => id);
    return this.#placed(run, { spilled, storedPages, sound: new Set(), cost: undefined });
  }

  async #placed(
    run: DocumentReference,
    { spilled, storedPages, sound, cost }: Placing,
  ): Promise<Omit<PageWrites, 'seen'>> {
    const pages = spilled?.pages ?? new Map<string, string>();
    // Pages beyond the limit of a commit stay until the run is deleted; `check` reports them.
    const unusedPages = storedPages.filter((name) => !pages.has(name)).slice(0, MAX_COMMIT_PAGES);
    const fresh = new Map([...pages].filter(([name]) => !sound.has(name)));
    const bytes = [...fresh.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const isTooMuch = bytes > this.#budget.commitBytes || fresh.size + unusedPages.length > MAX_COMMIT_PAGES;
    if (isTooMuch) await this.#put(run, fresh);
    const within = isTooMuch ? new Map<string, string>() : fresh;
    const ofPages = { reads: 1, writes: fresh.size, deletes: unusedPages.length };
    return {
      members: {
        ...(spilled?.members ?? { pages: FieldValue.delete() }),
        ...(cost ? encodeCost(sum(cost, ofPages)) : {}),
      },
      writes: within.size + unusedPages.length,
      bytes: isTooMuch ? 0 : bytes,
      fill: (batch) => {
        for (const [name, text] of within)
          batch.set(this.#paths.page(run, name).path, pageCodec.encode({ text }));
        for (const name of unusedPages) batch.delete(this.#paths.page(run, name).path);
      },
    };
  }

  /** Writes pages that no document names yet. */
  async #put(run: DocumentReference, pages: ReadonlyMap<string, string>): Promise<void> {
    const all = [...pages];
    for (let from = 0; from < all.length; from += PAGES_A_REQUEST) {
      const batch = this.#newBatch();
      for (const [name, text] of all.slice(from, from + PAGES_A_REQUEST))
        batch.set(this.#paths.page(run, name).path, pageCodec.encode({ text }));
      await call(`write of pages of run ${run.id}`, () => batch.commit());
    }
  }
}
