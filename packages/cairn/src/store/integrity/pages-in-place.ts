/**
 * The pages of a run document as found at one moment: the readable ones, and the problems of the others.
 *
 * Must not: read anything outside the given transaction.
 */
import type { DocumentSnapshot } from '@google-cloud/firestore';
import { sha256Hex } from '../../core/encoding/hash.ts';
import type { FaultyPage } from '../../core/integrity/found.ts';
import type { Members } from '../codec/kinds.ts';
import { namedBy, type PageNames, pagesOf } from '../pages/spill.ts';

/** Pages read at once: each has up to 450 KiB. */
const PAGES_A_READ = 20;

/** Names of the pages of a document, and the text of those that are sound. */
export interface FoundPages {
  readonly names: PageNames;
  readonly texts: ReadonlyMap<string, string>;
}

export class PagesInPlace {
  readonly #read: (names: readonly string[]) => Promise<readonly DocumentSnapshot[]>;
  readonly #list: () => Promise<{ readonly docs: readonly { readonly id: string }[] }>;
  readonly #named = new Set<string>();
  readonly #problems: FaultyPage[] = [];

  constructor(
    read: (names: readonly string[]) => Promise<readonly DocumentSnapshot[]>,
    list: () => Promise<{ readonly docs: readonly { readonly id: string }[] }>,
  ) {
    this.#read = read;
    this.#list = list;
  }

  /** Undefined if the document has no pages, or its list of them is unreadable. */
  async of(members: Members): Promise<FoundPages | undefined> {
    const names = readable(members);
    if (!names) return undefined;
    const wanted = namedBy(names);
    const texts = new Map<string, string>();
    for (let from = 0; from < wanted.length; from += PAGES_A_READ) {
      for (const document of await this.#read(wanted.slice(from, from + PAGES_A_READ))) {
        this.#named.add(document.id);
        const text: unknown = document.get('text');
        if (!document.exists) this.#problems.push({ id: document.id, problem: 'missing' });
        else if (typeof text !== 'string' || sha256Hex(text) !== document.id)
          this.#problems.push({ id: document.id, problem: 'damaged' });
        else texts.set(document.id, text);
      }
    }
    return { names, texts };
  }

  /** Call after {@link of}. */
  async faulty(): Promise<readonly FaultyPage[]> {
    const { docs } = await this.#list();
    const orphaned = docs.filter(({ id }) => !this.#named.has(id));
    return [...this.#problems, ...orphaned.map(({ id }): FaultyPage => ({ id, problem: 'orphaned' }))];
  }
}

function readable(members: Members): PageNames | undefined {
  try {
    return pagesOf(members);
  } catch {
    // The decoding of the document reports this error.
    return undefined;
  }
}
