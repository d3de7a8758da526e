/** The filter of the list, as the page's address and as the API's query. Pure. */
import type { Answer } from '../../../api/client.ts';
import { causeName, type RunRow } from '../row.ts';

export type RunStatusName = Answer<'RunStarted'>['status'];

/** In the order of a run's life. */
export const STATUSES = [
  'pending',
  'running',
  'replaying',
  'awaiting_approval',
  'waiting_external',
  'interrupted',
  'completed',
  'failed',
  'cancelled',
] as const satisfies readonly RunStatusName[];

/** Time ranges of the list, as in the address. */
export const SPANS = {
  '1h': { name: 'last hour', ms: 3_600_000 },
  '24h': { name: 'last 24 hours', ms: 86_400_000 },
  '7d': { name: 'last 7 days', ms: 604_800_000 },
  '30d': { name: 'last 30 days', ms: 2_592_000_000 },
} as const;
export type SpanWord = keyof typeof SPANS;

export function isSpan(word: string): word is SpanWord {
  return Object.hasOwn(SPANS, word);
}

/** Order of a list whose address names none. */
export const NEWEST_FIRST = 'newest first';
/** Orders of the list besides {@link NEWEST_FIRST}, as in the address. */
export const ORDERS = {
  oldest: 'oldest first',
  longest: 'longest first',
  updated: 'changed last',
} as const;
export type Order = keyof typeof ORDERS;

function isOrder(word: string): word is Order {
  return Object.hasOwn(ORDERS, word);
}

/** False for filters that the API supports only in lists, not in counts, streams and bulk changes. */
export function isLive({ match, sort }: RunListFilter): boolean {
  return match === undefined && sort === undefined;
}

export interface RunListFilter {
  /** Several are separated by commas. */
  readonly status?: string | undefined;
  readonly type?: string | undefined;
  readonly repoId?: string | undefined;
  readonly threadId?: string | undefined;
  /** `name:value`. */
  readonly tag?: string | undefined;
  /** A comparison of a tag, or the beginning of an id, a key or a tag. */
  readonly match?: string | undefined;
  /** Cause of failure, as named in rows. The API has no such filter, so the console leaves out other rows. */
  readonly cause?: string | undefined;
  /** Absent: the newest first. */
  readonly sort?: Order | undefined;
  /** ISO: created then or later. */
  readonly since?: string | undefined;
  /** ISO: created before. */
  readonly until?: string | undefined;
  /** Child runs are left out. */
  readonly topLevel?: true | undefined;
}

/** Names in the address of the page. */
export const NAMES = {
  status: 'status',
  type: 'type',
  repoId: 'repo',
  threadId: 'thread',
  tag: 'tag',
  match: 'match',
  cause: 'cause',
  sort: 'sort',
  since: 'since',
  until: 'until',
} as const;

/** In the address: child runs are listed too. */
export const CHILDREN = 'children';

export function showsChildren(search: string): boolean {
  return new URLSearchParams(search).get(CHILDREN) === '1';
}

export function isShown(row: RunRow, { topLevel, cause }: RunListFilter): boolean {
  return (topLevel === undefined || !row.isChild) && (cause === undefined || row.cause === cause);
}

/** The filter as the API takes it. */
export function askedFilter({ cause: _, ...filter }: RunListFilter): Omit<RunListFilter, 'cause'> {
  return filter;
}

interface CauseFilter {
  readonly type: string;
  readonly code: string;
  readonly step?: string | undefined;
}

/** Values in the address for the failed runs of a cause, child runs included, as the statistics count them. */
export function causeQuery(cause: CauseFilter): Readonly<Record<string, string>> {
  return {
    [NAMES.status]: 'failed',
    [NAMES.type]: cause.type,
    [NAMES.cause]: causeName(cause),
    [CHILDREN]: '1',
  };
}

/** `STEP_FAILED at charge`. */
export function causeText(cause: string): string {
  const [code = '', ...step] = cause.split(':');
  return step.join(':') === '' ? code : `${code} at ${step.join(':')}`;
}

export function filterOf(search: string): RunListFilter {
  const query = new URLSearchParams(search);
  const value = (name: keyof typeof NAMES) => query.get(NAMES[name])?.trim() || undefined;
  const statuses = value('status')?.split(',') ?? [];
  const sort = value('sort') ?? '';
  return {
    // An unknown status in a mistyped address shows all runs instead of an error.
    status: STATUSES.filter((known) => statuses.includes(known)).join(',') || undefined,
    type: value('type'),
    repoId: value('repoId'),
    threadId: value('threadId'),
    tag: value('tag'),
    match: value('match'),
    cause: value('cause'),
    sort: isOrder(sort) ? sort : undefined,
    topLevel: showsChildren(search) ? undefined : true,
  };
}

/** Undefined for an unlimited span. */
export function spanOf(search: string): SpanWord | undefined {
  const word = new URLSearchParams(search).get(NAMES.since) ?? '';
  return isSpan(word) ? word : undefined;
}

/** Range of the creation times listed: a span up to now, or a start and an end, ISO. */
export interface TimeRange {
  readonly span?: SpanWord | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** A text that is not a time is ignored, like an unknown status. */
export function rangeOf(search: string): TimeRange {
  const span = spanOf(search);
  if (span !== undefined) return { span };
  const query = new URLSearchParams(search);
  return { since: timeIn(query.get(NAMES.since)), until: timeIn(query.get(NAMES.until)) };
}

export function hasRange({ span, since, until }: TimeRange): boolean {
  return (span ?? since ?? until) !== undefined;
}

function timeIn(text: string | null): string | undefined {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}

/** The start of the span, in full minutes so that it does not change on every render. @param now epoch ms */
export function startOf(span: SpanWord, now: number): string {
  return new Date(Math.floor((now - SPANS[span].ms) / MINUTE_MS) * MINUTE_MS).toISOString();
}

const MINUTE_MS = 60_000;

/** A complete tag, `name:value`. Any other text is a comparison or a prefix. */
const WHOLE_TAG = /^[A-Za-z][\w.-]*:[^*]+$/;

/** Values in the address for the text of the field *Tag*. Only the list of a complete tag can update live. */
export function tagOrMatch(text: string | undefined): Readonly<Record<'tag' | 'match', string | undefined>> {
  const isWhole = text !== undefined && WHOLE_TAG.test(text);
  return { tag: isWhole ? text : undefined, match: isWhole ? undefined : text };
}

/** A comparison without the value to compare with, while it is typed. */
export function isHalfTyped(text: string): boolean {
  return /[<>]=?$/.test(text);
}

/** Adds the status, or removes it if it is there. */
export function toggledStatus(status: string | undefined, one: RunStatusName): string | undefined {
  const now = new Set<string>(status?.split(','));
  if (!now.delete(one)) now.add(one);
  return STATUSES.filter((known) => now.has(known)).join(',') || undefined;
}

export function isFiltered({ topLevel: _, ...filter }: RunListFilter): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}

/** The filter as text: `runs that are failed, of review-pull-request`. */
export function filterText({
  status,
  type,
  repoId,
  threadId,
  tag,
  match,
  cause,
  sort,
  since,
  until,
}: RunListFilter): string {
  const parts = [
    status && `that are ${status.replaceAll('_', ' ').replaceAll(',', ' or ')}`,
    type && `of ${type}`,
    repoId && `about ${repoId}`,
    threadId && `of the thread ${threadId}`,
    tag && `tagged ${tag}`,
    match && `that match ${match}`,
    cause && `by the cause ${causeText(cause)}`,
    sort && ORDERS[sort],
    since && `created since ${stamp(since)}`,
    until && `created before ${stamp(until)}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? 'runs' : `runs ${parts.join(', ')}`;
}

function stamp(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}
