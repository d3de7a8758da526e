/**
 * Reads all documents of a run for its check, page by page and as of one moment. What it keeps of them is bounded by the
 * steps of the run, not by its values.
 *
 * Must not: judge what is found, or have a way to write.
 */
import { type EffectRecord, isEffectId } from '../../core/effects/effect.ts';
import { seqId } from '../../core/encoding/ids.ts';
import { CairnError } from '../../core/errors.ts';
import type {
  FoundDocument,
  FoundSnapshot,
  MailboxFact,
  OriginFact,
  RunFacts,
} from '../../core/integrity/facts.ts';
import { type JournalFacts, JournalReading } from '../../core/integrity/journal-reading.ts';
import type { RunState } from '../../core/run/state.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { IntegrityReader, RunReader, Stretch } from '../../ports/runs/integrity-store.ts';
import { type ReadPayloadsDeps, readPayloads } from './read-payloads.ts';

/** Documents in one answer of the store: with 256 KiB in each checkpoint it stays below 32 MiB. */
const EVENTS_A_PAGE = 300;
const CHECKPOINTS_A_PAGE = 100;
const STEPS_A_PAGE = 300;
const EFFECTS_A_PAGE = 100;
/** Far more than 10,000 steps with their attempts make; more than this is not read within the minute that a look may take. */
const MAX_EVENTS = 200_000;
/** A run has at most 10,000 steps and items, and sends some of them back; beyond this something else is wrong. */
const MAX_DOCUMENTS = 100_000;
/** Places at which the run has waited, those of open waits first: each is one read. */
const MAX_PLACES = 200;

export interface ReadFactsDeps extends ReadPayloadsDeps {
  readonly reader: IntegrityReader;
}

export interface ReadRun {
  readonly facts: RunFacts;
  /** Ids of checkpoints whose large value was not read back, because there are too many of them. */
  readonly unread: readonly string[];
}

/**
 * Undefined if there is nothing of such a run, or it is another tenant's; nothing more is read then.
 *
 * @throws CairnError UNAVAILABLE, PAYLOAD_TOO_LARGE for a run that is too long to be checked
 */
export async function readFacts(
  deps: ReadFactsDeps,
  runId: string,
  isWanted: IsWanted,
): Promise<ReadRun | undefined> {
  const read = await sendUntilKnown(deps, () =>
    deps.reader.atOneMoment(runId, (reader) => look(reader, isWanted)),
  );
  if (!read) return undefined;
  const { payloads, unread } = await readPayloads(deps, runId, read.checkpoints);
  return { facts: { runId, ...read, payloads }, unread };
}

/** Identity of a run before it is read. */
export interface Owned {
  /** Undefined: the tenant cannot be determined. */
  readonly tenantId: string | undefined;
  /** Newest event the run document includes; undefined if unreadable. */
  readonly head: number | undefined;
}

export type IsWanted = (owned: Owned) => boolean;

/** Returns true if the run exists and is wanted. @throws CairnError UNAVAILABLE */
export async function isThere(deps: ReadFactsDeps, runId: string, isWanted: IsWanted): Promise<boolean> {
  const found = await sendUntilKnown(deps, () =>
    deps.reader.atOneMoment(runId, (reader) => begin(reader, isWanted)),
  );
  return found !== undefined;
}

interface Begun {
  readonly snapshot: FoundSnapshot | undefined;
  readonly readAt: number;
  readonly reading: JournalReading;
  /** Id of the first event. */
  readonly first: string | undefined;
}

/** Tenant of a run that may be damaged: from its first event, or else from the run document. */
async function begin(reader: RunReader, isWanted: IsWanted): Promise<Begun | undefined> {
  const { found: snapshot, readAt } = await reader.snapshot();
  const [first] = await reader.events({ after: undefined, limit: 1 });
  if (!first && !snapshot) return undefined;
  // About to be deleted: it may be half gone by the next look.
  if (snapshot?.soft.deletionMarkedAt !== undefined) return undefined;
  const reading = new JournalReading({ runId: reader.runId, snapshotHash: snapshot?.headHash });
  if (first) reading.take(first);
  const { identity } = reading.end();
  const head = snapshot?.kind === 'sound' ? snapshot.value.head : undefined;
  if (!isWanted({ tenantId: identity?.tenantId ?? snapshot?.tenantId, head })) return undefined;
  return { snapshot, readAt, reading, first: first?.id };
}

type Look = Omit<RunFacts, 'runId' | 'payloads'>;

async function look(reader: RunReader, isWanted: IsWanted): Promise<Look | undefined> {
  const begun = await begin(reader, isWanted);
  if (!begun) return undefined;
  const { snapshot, readAt, reading, first } = begun;
  const journal = await readJournal(reader, reading, first);
  const { state } = journal;
  return {
    readAt,
    journal,
    snapshot,
    pages: await reader.pages(),
    checkpoints: await all((stretch) => reader.checkpoints(stretch), CHECKPOINTS_A_PAGE),
    steps: await all((stretch) => reader.steps(stretch), STEPS_A_PAGE),
    effects: await readEffects(reader, journal),
    origins: await readOrigins(reader, journal),
    mailboxes: state ? await readPlaces(reader, state) : [],
    finding: await reader.finding(),
    record: state?.idempotencyKey === undefined ? undefined : await reader.record(state.idempotencyKey),
  };
}

/** The rest of it, behind the event that was taken. */
async function readJournal(
  reader: RunReader,
  reading: JournalReading,
  first: string | undefined,
): Promise<JournalFacts> {
  let count = 0;
  for (let after = first; ; ) {
    const page = await reader.events({ after, limit: EVENTS_A_PAGE });
    for (const event of page) reading.take(event);
    count += page.length;
    if (page.length < EVENTS_A_PAGE) return reading.end();
    after = page.at(-1)?.id;
    if (count > MAX_EVENTS) throw tooLong('events', MAX_EVENTS);
  }
}

async function all<T extends { readonly id: string }>(
  read: (stretch: Stretch) => Promise<readonly T[]>,
  limit: number,
): Promise<T[]> {
  const found: T[] = [];
  for (;;) {
    const page = await read({ after: found.at(-1)?.id, limit });
    found.push(...page);
    if (page.length < limit) return found;
    if (found.length > MAX_DOCUMENTS) throw tooLong('checkpoints or steps', MAX_DOCUMENTS);
  }
}

/** Rows of the ledger that name the run, or an owner in place of one. @throws CairnError PAYLOAD_TOO_LARGE */
export async function readRows(reader: RunReader): Promise<FoundDocument<EffectRecord>[]> {
  const rows: FoundDocument<EffectRecord>[] = [];
  for (;;) {
    const page = await reader.effectsOfRun(rows.at(-1), EFFECTS_A_PAGE);
    rows.push(...page);
    if (page.length < EFFECTS_A_PAGE) return rows;
    if (rows.length > MAX_DOCUMENTS) throw tooLong('rows in the ledger', MAX_DOCUMENTS);
  }
}

/** Those that say they are of the run, and those of others of its lineage, of which its journal tells. */
async function readEffects(reader: RunReader, journal: JournalFacts): Promise<FoundDocument<EffectRecord>[]> {
  const rows = await readRows(reader);
  const there = new Set(rows.map(({ id }) => id));
  // A journal that is damaged may say anything of ids; those that are none are of no row.
  const others = [...journal.effects.keys()].filter((id) => !there.has(id) && isEffectId(id));
  for (let from = 0; from < others.length; from += EFFECTS_A_PAGE)
    rows.push(...(await reader.effects(others.slice(from, from + EFFECTS_A_PAGE))));
  return rows;
}

/** Reads the outputs that a successor reused, which are stored with their runs. */
async function readOrigins(reader: RunReader, { checkpoints }: JournalFacts): Promise<OriginFact[]> {
  const wanted = [...checkpoints].flatMap(([seq, { takenOver }]) =>
    takenOver ? [{ id: seqId(seq), ref: takenOver.from }] : [],
  );
  const origins: OriginFact[] = [];
  for (let from = 0; from < wanted.length; from += CHECKPOINTS_A_PAGE) {
    const page = wanted.slice(from, from + CHECKPOINTS_A_PAGE);
    const found = await reader.origins(page.map(({ ref }) => ref));
    page.forEach(({ id }, i) => {
      const one = found[i];
      const sha =
        one?.kind === 'sound' ? (one.value.outputSha ?? one.value.checkpoint.outputRef?.sha256) : undefined;
      origins.push({ id, sha });
    });
  }
  return origins;
}

/** Mailboxes where the run waits or has waited; its ties name them until its end. */
async function readPlaces(
  reader: RunReader,
  { id, tenantId, ties, waits }: RunState,
): Promise<MailboxFact[]> {
  const open = new Set(waits.map((wait) => wait.id));
  const places = new Map<string, { event: string; key: string }>();
  const ofEvents = ties.filter((tie) => tie.kind === 'event');
  for (const tie of [...ofEvents].sort((a, b) => Number(open.has(b.waitId)) - Number(open.has(a.waitId)))) {
    places.set(JSON.stringify([tie.name, tie.key]), { event: tie.name, key: tie.key });
    if (places.size === MAX_PLACES) break;
  }
  const facts: MailboxFact[] = [];
  for (const { event, key } of places.values()) {
    const found = await reader.mailbox({ tenantId, event, key });
    if (!found) facts.push({ event, key, listed: [] });
    else if (found.kind !== 'sound') {
      const reason = found.kind === 'newer' ? `schema version ${found.schemaVersion}` : found.reason;
      facts.push({ event, key, listed: [], reason });
    } else {
      const { waiting, buffered } = found.value;
      const refs = [...waiting, ...buffered.flatMap(({ takenBy }) => takenBy ?? [])];
      facts.push({
        event,
        key,
        listed: refs.filter(({ runId }) => runId === id).map(({ waitId }) => waitId),
      });
    }
  }
  return facts;
}

function tooLong(what: string, most: number): CairnError {
  return new CairnError('PAYLOAD_TOO_LARGE', `the run has more than ${most} ${what}`, {
    help: 'A run of this size cannot be checked in one request. Read its journal page by page.',
  });
}
