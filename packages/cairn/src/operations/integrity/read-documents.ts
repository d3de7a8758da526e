/**
 * Reads all documents of a run for its check, page by page and as of one moment. The memory is bounded by the number of steps,
 * not by the size of values.
 *
 * Must not: judge the documents, or write.
 */
import { type EffectRecord, isEffectId } from '../../core/effects/effect.ts';
import { CairnError } from '../../core/errors.ts';
import type {
  FoundDocument,
  FoundMailbox,
  FoundOrigin,
  FoundSnapshot,
  RunAsFound,
} from '../../core/integrity/found.ts';
import { type JournalContent, JournalReading } from '../../core/integrity/journal-reading.ts';
import type { RunState } from '../../core/run/state.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { IntegrityReader, ListStretch, RunReader } from '../../ports/runs/integrity-store.ts';
import { type ReadPayloadsDeps, readPayloads } from './read-payloads.ts';

interface ListOf {
  readonly what: string;
  /** Documents in one response of the store, which stays below 32 MiB with 256 KiB in each checkpoint. */
  readonly limit: number;
  /** Longer lists are not read. */
  readonly most: number;
}

/** Far more than the attempts of 10,000 steps. A longer journal cannot be read within the minute that a read may take. */
const EVENTS: ListOf = { what: 'events', limit: 300, most: 200_000 };
/** A run has at most 10,000 steps and items, of which some run again. A larger number indicates another defect. */
const CHECKPOINTS: ListOf = { what: 'checkpoints or steps', limit: 100, most: 100_000 };
const STEPS: ListOf = { ...CHECKPOINTS, limit: 300 };
const ROWS: ListOf = { what: 'rows in the ledger', limit: 100, most: 100_000 };
/** Mailboxes of the run's waits, those of open waits first. Each costs one read. */
const MAX_MAILBOXES = 200;

export interface ReadDocumentsDeps extends ReadPayloadsDeps {
  readonly reader: IntegrityReader;
}

export interface ReadRun {
  readonly run: RunAsFound;
  /** Ids of checkpoints whose large value was not read back, because there are too many. */
  readonly unread: readonly string[];
}

/**
 * Undefined if the run has no documents, or belongs to another tenant; then nothing more is read.
 *
 * @throws CairnError UNAVAILABLE, PAYLOAD_TOO_LARGE for a run that is too long to be checked
 */
export async function readDocuments(
  deps: ReadDocumentsDeps,
  runId: string,
  isWanted: IsWanted,
): Promise<ReadRun | undefined> {
  const read = await sendUntilKnown(deps, () =>
    deps.reader.atOneMoment(runId, (reader) => readStored(reader, isWanted)),
  );
  if (!read) return undefined;
  const { payloads, unread } = await readPayloads(deps, runId, read.checkpoints);
  return { run: { runId, ...read, payloads }, unread };
}

/** Identity of a run before it is read. */
export interface Owned {
  /** Undefined: the tenant cannot be determined. */
  readonly tenantId: string | undefined;
  /** Newest event that the run document includes; undefined if unreadable. */
  readonly head: number | undefined;
}

export type IsWanted = (owned: Owned) => boolean;

/** Returns true if the run exists and is wanted. @throws CairnError UNAVAILABLE */
export async function isThere(deps: ReadDocumentsDeps, runId: string, isWanted: IsWanted): Promise<boolean> {
  const found = await sendUntilKnown(deps, () =>
    deps.reader.atOneMoment(runId, (reader) => begin(reader, isWanted)),
  );
  return found !== undefined;
}

interface BegunReading {
  readonly snapshot: FoundSnapshot | undefined;
  readonly readAt: number;
  readonly reading: JournalReading;
  /** Id of the first event. */
  readonly first: string | undefined;
}

/** Tenant of a run that may be damaged: from its first event, or else from the run document. */
async function begin(reader: RunReader, isWanted: IsWanted): Promise<BegunReading | undefined> {
  const { found: snapshot, readAt } = await reader.snapshot();
  const [first] = await reader.events({ after: undefined, limit: 1 });
  if (!first && !snapshot) return undefined;
  // A run marked for deletion may be half deleted at the next read.
  if (snapshot?.metadata.deletionMarkedAt !== undefined) return undefined;
  const reading = new JournalReading({ runId: reader.runId, snapshotHash: snapshot?.headHash });
  if (first) reading.take(first);
  const { identity } = reading.end();
  const head = snapshot?.kind === 'sound' ? snapshot.value.head : undefined;
  if (!isWanted({ tenantId: identity?.tenantId ?? snapshot?.tenantId, head })) return undefined;
  return { snapshot, readAt, reading, first: first?.id };
}

type StoredDocuments = Omit<RunAsFound, 'runId' | 'payloads'>;

async function readStored(reader: RunReader, isWanted: IsWanted): Promise<StoredDocuments | undefined> {
  const begun = await begin(reader, isWanted);
  if (!begun) return undefined;
  const { snapshot, readAt, reading, first } = begun;
  for await (const page of pages(EVENTS, (after, limit) => reader.events({ after: after ?? first, limit }))) {
    for (const event of page) reading.take(event);
  }
  const journal = reading.end();
  const { state } = journal;
  return {
    readAt,
    journal,
    snapshot,
    pages: await reader.pages(),
    checkpoints: await all(CHECKPOINTS, (stretch) => reader.checkpoints(stretch)),
    steps: await all(STEPS, (stretch) => reader.steps(stretch)),
    effects: await readEffects(reader, journal),
    origins: await readOrigins(reader, journal),
    mailboxes: state ? await readMailboxes(reader, state) : [],
    finding: await reader.finding(),
    record: state?.idempotencyKey === undefined ? undefined : await reader.record(state.idempotencyKey),
  };
}

/** @throws CairnError PAYLOAD_TOO_LARGE */
async function* pages<T extends { readonly id: string }>(
  { what, limit, most }: ListOf,
  read: (after: string | undefined, limit: number) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  let after: string | undefined;
  for (let count = 0; count <= most; ) {
    const page = await read(after, limit);
    yield page;
    if (page.length < limit) return;
    count += page.length;
    after = page.at(-1)?.id;
  }
  throw new CairnError('PAYLOAD_TOO_LARGE', `the run has more than ${most} ${what}`, {
    help: 'A run of this size cannot be checked in one request. Read its journal page by page.',
  });
}

async function all<T extends { readonly id: string }>(
  of: ListOf,
  read: (stretch: ListStretch) => Promise<readonly T[]>,
): Promise<T[]> {
  const found: T[] = [];
  for await (const page of pages(of, (after, limit) => read({ after, limit }))) found.push(...page);
  return found;
}

/** Rows of the ledger that name the run, or the owner of effects without a run. @throws CairnError PAYLOAD_TOO_LARGE */
export function readRows(reader: RunReader): Promise<FoundDocument<EffectRecord>[]> {
  return all(ROWS, (stretch) => reader.effectsOfRun(stretch));
}

/** Rows of the run, and rows of other runs of its lineage that its journal names. */
async function readEffects(
  reader: RunReader,
  journal: JournalContent,
): Promise<FoundDocument<EffectRecord>[]> {
  const rows = await readRows(reader);
  const rowIds = new Set(rows.map(({ id }) => id));
  // A damaged journal may contain invalid ids, which have no row.
  const others = [...journal.effects.keys()].filter((id) => !rowIds.has(id) && isEffectId(id));
  return [...rows, ...(await inParts(others, ROWS, (ids) => reader.effects(ids)))];
}

/** Reads the outputs that a successor reused, which are stored with their runs. */
async function readOrigins(reader: RunReader, { checkpoints }: JournalContent): Promise<FoundOrigin[]> {
  const reused = [...checkpoints].flatMap(([id, { takenOver }]) =>
    takenOver ? [{ id, from: takenOver.from }] : [],
  );
  const refs = reused.map(({ from }) => from);
  const found = await inParts(refs, CHECKPOINTS, (part) => reader.origins(part));
  return reused.map(({ id }, at) => {
    const origin = found[at];
    if (origin?.kind !== 'sound') return { id, sha: undefined };
    return { id, sha: origin.value.outputSha ?? origin.value.checkpoint.outputRef?.sha256 };
  });
}

async function inParts<T, R>(
  items: readonly T[],
  { limit }: ListOf,
  read: (part: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const found: R[] = [];
  for (let from = 0; from < items.length; from += limit) {
    found.push(...(await read(items.slice(from, from + limit))));
  }
  return found;
}

/** Mailboxes of past and open waits of the run: its external registrations name them until its end. */
async function readMailboxes(
  reader: RunReader,
  { id, tenantId, ties, waits }: RunState,
): Promise<FoundMailbox[]> {
  const open = new Set(waits.map((wait) => wait.id));
  const places = ties
    .filter((registration) => registration.kind === 'event')
    .sort((a, b) => Number(open.has(b.waitId)) - Number(open.has(a.waitId)))
    .map(({ name: event, key }) => ({ event, key }));
  const unique = new Map(places.map((place) => [JSON.stringify(place), place]));
  const mailboxes: FoundMailbox[] = [];
  for (const place of [...unique.values()].slice(0, MAX_MAILBOXES)) {
    const found = await reader.mailbox({ tenantId, ...place });
    if (found?.kind === 'newer') {
      mailboxes.push({ ...place, listed: [], reason: `schema version ${found.schemaVersion}` });
    } else if (found?.kind === 'unreadable') {
      mailboxes.push({ ...place, listed: [], reason: found.reason });
    } else {
      const { waiting = [], buffered = [] } = found?.value ?? {};
      const refs = [...waiting, ...buffered.flatMap(({ takenBy }) => takenBy ?? [])];
      const own = refs.filter(({ runId }) => runId === id);
      mailboxes.push({ ...place, listed: own.map(({ waitId }) => waitId) });
    }
  }
  return mailboxes;
}
