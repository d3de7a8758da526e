/**
 * Splits a run document that would become too large: lists that grow with the number of executions go to pages, which the
 * document names in order. A page is text addressed by its hash, so the same state always makes the same pages, and an
 * unchanged page is not written again. Pure.
 *
 * Lists are cut from their oldest entry on. New entries are added at the end (finished steps in the order of their events), so
 * full pages stay unchanged while the run proceeds, and the newest entries stay in the document.
 */
import { sha256Hex } from '../../core/encoding/hash.ts';
import { canonicalTextOf } from '../../core/encoding/json.ts';
import { UNREAD_STORED_AS } from '../../core/run/data/unread-signals.ts';
import type { RunState } from '../../core/run/state.ts';
import { UndecodableDocument } from '../../ports/store-errors.ts';
import type { Members } from '../codec/kinds.ts';
import { stepEntries } from '../codec/steps-text.ts';

/**
 * Bytes of text that a run document holds before lists are moved out. Firestore's limit is 1 MiB for the whole document. The
 * parts not counted here (the identity of the run, `soft`) stay below 150 KiB.
 */
export const SNAPSHOT_BUDGET_BYTES = 700 * 1024;
/** A page is closed once it has this many bytes: large enough for few reads, small enough for cheap updates. */
export const PAGE_BYTES = 128 * 1024;

/** Size bounds of documents. Tests use smaller ones, so that a small run has pages. */
export interface PageBudget {
  readonly documentBytes: number;
  readonly pageBytes: number;
  /** Maximum bytes of pages in the commit that names them; further pages are written before it. */
  readonly commitBytes: number;
}

/** A commit also has up to 6 MiB of events and 1 MiB of the run document. */
export const PAGE_BUDGET: PageBudget = {
  documentBytes: SNAPSHOT_BUDGET_BYTES,
  pageBytes: PAGE_BYTES,
  commitBytes: 2 * 1024 * 1024,
};

/**
 * Members of the document whose lists are moved out. Not `waits` and `lastHandoff`: the inbox reads them, and `MAX_OPEN_WAITS_BYTES`
 * bounds them.
 */
const PAGED_LISTS = [
  'steps',
  'compensationLog',
  'ties',
  'decisions',
  'effects',
  'sentBack',
  'feedback',
  'inFlight',
  UNREAD_STORED_AS,
  'received',
] as const;
export type PagedList = (typeof PAGED_LISTS)[number];

/** Lowest schema version of a run document with pages. */
const PAGED_SCHEMA_VERSION = 2;

/** The member `pages` of a run document. */
export interface PageNames {
  /** `schemaVersion` of the state; that of the document marks it as one with pages. */
  readonly of: number;
  /** Names of the pages of each list, the oldest entries first. */
  readonly lists: { readonly [L in PagedList]?: readonly string[] };
}

export interface Spilled {
  /** Members of the document that replace the encoded ones. */
  readonly members: Members;
  /** Text of each page, by name. */
  readonly pages: ReadonlyMap<string, string>;
}

/** Returns undefined if the document is small enough. @param members the encoded state */
export function spill(
  members: Members,
  state: RunState,
  { documentBytes, pageBytes }: PageBudget = PAGE_BUDGET,
): Spilled | undefined {
  let total = 0;
  for (const member of Object.values(members)) total += sizeOf(member);
  if (total <= documentBytes) return undefined;
  const spilledLists = new Map<PagedList, SpilledList>();
  for (const name of PAGED_LISTS) {
    const whole = { text: members[name] as string, bytes: sizeOf(members[name]) };
    const list = whole.bytes <= pageBytes ? { pages: [], rest: whole } : cut(name, state, pageBytes);
    total += list.rest.bytes - whole.bytes;
    spilledLists.set(name, list);
  }
  while (total > documentBytes) {
    const [name, list] = [...spilledLists].reduce((a, b) => (b[1].rest.bytes > a[1].rest.bytes ? b : a));
    const empty = joined(name, []);
    if (list.rest.bytes <= empty.bytes) break;
    total += empty.bytes - list.rest.bytes;
    spilledLists.set(name, { pages: [...list.pages, list.rest.text], rest: empty });
  }
  return spilled(state, spilledLists);
}

interface Text {
  readonly text: string;
  readonly bytes: number;
}

interface SpilledList {
  readonly pages: readonly string[];
  /** The part that stays in the document. */
  readonly rest: Text;
}

function cut(name: PagedList, state: RunState, pageBytes: number): SpilledList {
  const entries =
    name === 'steps'
      ? stepEntries(state.steps)
      : (name === UNREAD_STORED_AS ? state.unread : state[name]).map(textOf);
  const pages: string[] = [];
  let open: string[] = [];
  let bytes = 0;
  for (const entry of entries) {
    open.push(entry);
    bytes += Buffer.byteLength(entry) + 1;
    if (bytes < pageBytes) continue;
    pages.push(joined(name, open).text);
    open = [];
    bytes = 0;
  }
  return { pages, rest: joined(name, open) };
}

function textOf(entry: object | string): string {
  return typeof entry === 'string' ? JSON.stringify(entry) : canonicalTextOf(entry);
}

function joined(name: PagedList, entries: readonly string[]): Text {
  const text = name === 'steps' ? entries.join(' ') : `[${entries.join(',')}]`;
  return { text, bytes: Buffer.byteLength(text) };
}

function spilled({ schemaVersion }: RunState, spilledLists: ReadonlyMap<PagedList, SpilledList>): Spilled {
  const pages = new Map<string, string>();
  const lists: { [L in PagedList]?: readonly string[] } = {};
  const members: Members = {};
  for (const [name, list] of spilledLists) {
    members[name] = list.rest.text;
    if (list.pages.length === 0) continue;
    lists[name] = list.pages.map((text) => {
      const page = sha256Hex(text);
      pages.set(page, text);
      return page;
    });
  }
  const names: PageNames = { of: schemaVersion, lists };
  members.pages = canonicalTextOf(names);
  members.schemaVersion = Math.max(schemaVersion, PAGED_SCHEMA_VERSION);
  return { members, pages };
}

/** Bytes of the texts of a member. */
function sizeOf(member: unknown): number {
  if (typeof member === 'string') return Buffer.byteLength(member);
  if (typeof member !== 'object' || member === null || Object.getPrototypeOf(member) !== Object.prototype)
    return 8;
  let bytes = 0;
  for (const inner of Object.values(member)) bytes += sizeOf(inner);
  return bytes;
}

/**
 * Names of the pages of the document; undefined if it is complete without pages. A worker of the first version writes the whole
 * state with its own schema version but keeps the member `pages`, which is then ignored.
 *
 * @throws UndecodableDocument
 */
export function pagesOf(members: Members): PageNames | undefined {
  return typeof members.schemaVersion === 'number' && members.schemaVersion >= PAGED_SCHEMA_VERSION
    ? namesIn(members)
    : undefined;
}

/** Content of the member `pages`, valid or not. @throws UndecodableDocument */
export function namesIn({ pages }: Members): PageNames | undefined {
  if (pages === undefined) return undefined;
  try {
    const { of, lists } = JSON.parse(String(pages)) as PageNames;
    if (Number.isSafeInteger(of) && namedBy({ lists }).every(isPageName)) return { of, lists };
  } catch {
    // The error is reported below, without the content.
  }
  throw new UndecodableDocument("member 'pages' does not name pages");
}

function isPageName(name: unknown): boolean {
  return typeof name === 'string' && /^[0-9a-f]{64}$/.test(name);
}

/** Every page that the document needs. */
export function namedBy({ lists }: Pick<PageNames, 'lists'>): string[] {
  return [...new Set(PAGED_LISTS.flatMap((list) => lists[list] ?? []))];
}

/**
 * The document with its moved parts restored.
 *
 * @param texts of every page in `names`
 * @throws UndecodableDocument if the document does not match its pages
 */
export function restored(
  members: Members,
  { of, lists }: PageNames,
  texts: ReadonlyMap<string, string>,
): Members {
  const { pages: _, ...whole } = members;
  whole.schemaVersion = of;
  for (const name of PAGED_LISTS) {
    const pages = (lists[name] ?? []).map((page) => texts.get(page) ?? '');
    if (pages.length === 0) continue;
    const rest = members[name];
    if (typeof rest !== 'string') throw new UndecodableDocument(`member '${name}': expected text`);
    const parts = [...pages, rest].map((text) => (name === 'steps' ? text : text.slice(1, -1)));
    const text = parts.filter((part) => part !== '').join(name === 'steps' ? ' ' : ',');
    whole[name] = name === 'steps' ? text : `[${text}]`;
  }
  return whole;
}
