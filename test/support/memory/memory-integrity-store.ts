/**
 * The documents of a run in memory, for checks and repairs. A value that is not an object counts as an undecodable document, and a
 * hole in the journal as a missing event.
 */
import type { IdempotencyRecord } from '../../../packages/cairn/src/core/decisions/idempotency.ts';
import { sha256Hex } from '../../../packages/cairn/src/core/encoding/hash.ts';
import { encodeKey } from '../../../packages/cairn/src/core/encoding/idempotency-keys.ts';
import { seqId } from '../../../packages/cairn/src/core/encoding/ids.ts';
import type {
  FoundCheckpoint,
  FoundDocument,
  FoundSnapshot,
} from '../../../packages/cairn/src/core/integrity/found.ts';
import { type Mailbox, mailboxId } from '../../../packages/cairn/src/core/mailbox/mailbox.ts';
import { SCHEMA_VERSION } from '../../../packages/cairn/src/core/run/events.ts';
import { askingSince } from '../../../packages/cairn/src/core/run/open-questions.ts';
import type { Checkpoint } from '../../../packages/cairn/src/core/run/records.ts';
import { wakeAt } from '../../../packages/cairn/src/core/run/wake.ts';
import { indexedNames } from '../../../packages/cairn/src/core/search/match-index.ts';
import {
  freeze,
  type MemoryDatabase,
  type RunDocuments,
} from '../../../packages/cairn/src/memory/memory-database.ts';
import type {
  DocumentWrite,
  IntegrityReader,
  ListStretch,
  RepairCommit,
  RepairResult,
  RepairStore,
  RunReader,
} from '../../../packages/cairn/src/ports/runs/integrity-store.ts';

export class MemoryIntegrityStore implements IntegrityReader, RepairStore {
  readonly #db: MemoryDatabase;
  /** Versions of documents without their own: every write creates another object. */
  readonly #versions = new WeakMap<object, string>();

  constructor(db: MemoryDatabase) {
    this.#db = db;
  }

  atOneMoment<T>(runId: string, look: (reader: RunReader) => Promise<T>): Promise<T> {
    return look(this.#reader(runId));
  }

  async repair(commit: RepairCommit): Promise<RepairResult> {
    const { runId, event, snapshot, steps, checkpoints } = commit;
    const run = this.#documents(runId);
    if (!run || event.seq !== run.events.length + 1) return { kind: 'stale' };
    const version = this.#db.runs.has(runId) ? run.version : undefined;
    const stands = <T>(
      writes: readonly DocumentWrite<T>[],
      of: ReadonlyMap<unknown, unknown>,
      keyOf: KeyOf,
    ) => writes.every(({ id, seen }) => this.#versionOf(of.get(keyOf(id, of))) === seen);
    if (version !== snapshot.seen) return { kind: 'stale' };
    if (!stands(steps, run.steps, stepKeyOf) || !stands(checkpoints, run.checkpoints, Number)) {
      return { kind: 'stale' };
    }
    run.events.push(freeze(event));
    for (const { id, value } of steps) {
      run.steps.delete(stepKeyOf(id, run.steps));
      if (value) run.steps.set(value.id, freeze(value));
    }
    for (const { id, value } of checkpoints) {
      run.checkpoints.delete(Number(id));
      if (value) run.checkpoints.set(value.seq, freeze(value));
    }
    run.snapshot = freeze(snapshot.state);
    run.metadata = freeze(snapshot.metadata);
    run.wakeAt = wakeAt(snapshot.state, snapshot.metadata);
    run.askingSince = askingSince(snapshot.state);
    run.foundBy = indexedNames(snapshot.state);
    run.version = this.#db.nextVersion();
    this.#db.orphans.delete(runId);
    this.#db.runs.set(runId, run);
    return { kind: 'repaired', snapshotVersion: run.version };
  }

  async outputText(runId: string, seq: number): Promise<string | undefined> {
    const { outputText } = (this.#documents(runId)?.checkpoints.get(seq) ?? {}) as Partial<Checkpoint>;
    return typeof outputText === 'string' ? outputText : undefined;
  }

  /** A reader of the current documents, which does not see later writes. */
  #reader(runId: string): RunReader {
    const run = this.#documents(runId);
    const snapshot = this.#db.runs.has(runId) && run ? this.#foundSnapshot(runId, run) : undefined;
    const events = (run?.events ?? []).flatMap((event, i) =>
      event === undefined ? [] : [this.#found(seqId(i + 1), event)],
    );
    const checkpoints = [...(run?.checkpoints ?? [])].map(([seq, one]) => this.#foundCheckpoint(seq, one));
    const steps = [...(run?.steps ?? [])].map(([key, step]) => this.#found(encodeKey(key), step));
    const rows = [...this.#db.effects].map(([id, { record }]) => ({
      record,
      found: this.#found(id, record),
    }));
    const readAt = this.#db.now();
    return {
      runId,
      snapshot: async () => ({ found: snapshot, readAt }),
      // A document in memory has no size limit.
      pages: async () => [],
      events: async (wanted) => stretchOf(events, wanted),
      checkpoints: async (wanted) => stretchOf(checkpoints, wanted),
      steps: async (wanted) => stretchOf(steps, wanted),
      effectsOfRun: async (wanted) => {
        const own = rows.filter(({ record }) => record?.runId === runId).map(({ found }) => found);
        return stretchOf(own, wanted);
      },
      effects: async (effectIds) => {
        const wanted = new Set(effectIds);
        return rows.map(({ found }) => found).filter(({ id }) => wanted.has(id));
      },
      origins: async (refs) =>
        refs.map(({ runId: of, checkpoint }) => {
          const origin = this.#documents(of)?.checkpoints.get(checkpoint);
          return origin && this.#foundCheckpoint(checkpoint, origin);
        }),
      mailbox: async (address) => {
        const stored = this.#db.mailboxes.get(mailboxId(address));
        return stored && { ...this.#found<Mailbox>(mailboxId(address), stored.mailbox) };
      },
      finding: async () => this.#db.findings.get(runId),
      record: async (key) => {
        const stored = this.#db.records.get(key);
        return stored && { ...this.#found<IdempotencyRecord>(encodeKey(key), stored.record) };
      },
    };
  }

  #documents(runId: string): RunDocuments | undefined {
    return this.#db.runs.get(runId) ?? this.#db.orphans.get(runId);
  }

  #foundSnapshot(
    runId: string,
    { snapshot, metadata, wakeAt: at, askingSince: since, foundBy: names, version }: RunDocuments,
  ): FoundSnapshot {
    const { tenantId, headHash } = (snapshot ?? {}) as unknown as Record<string, unknown>;
    const isSound = typeof metadata === 'object' && metadata !== null;
    return {
      ...this.#found(runId, snapshot),
      version,
      metadata: isSound ? metadata : {},
      metadataDamage: isSound ? [] : ['soft'],
      wakeAt: at,
      askingSince: since,
      foundBy: names,
      // Computed when the run is listed.
      listed: undefined,
      waitsFor: undefined,
      tenantId: typeof tenantId === 'string' ? tenantId : undefined,
      headHash: typeof headHash === 'string' ? headHash : undefined,
    };
  }

  #foundCheckpoint(seq: number, stored: Checkpoint): FoundDocument<FoundCheckpoint> {
    const one = this.#found(seqId(seq), stored);
    if (one.kind !== 'sound') return one;
    const { outputText, ...checkpoint } = one.value;
    const outputSha = outputText === undefined ? {} : { outputSha: sha256Hex(outputText) };
    return { ...one, value: { checkpoint, ...outputSha } };
  }

  #found<T>(id: string, stored: T): FoundDocument<T> {
    const version = this.#versionOf(stored) ?? 'none';
    if (typeof stored !== 'object' || stored === null) {
      return { id, version, kind: 'unreadable', reason: `expected a document, found ${typeof stored}` };
    }
    const { schemaVersion } = stored as { schemaVersion?: unknown };
    if (typeof schemaVersion === 'number' && schemaVersion > SCHEMA_VERSION) {
      return { id, version, kind: 'newer', schemaVersion };
    }
    return { id, version, kind: 'sound', value: stored };
  }

  #versionOf(stored: unknown): string | undefined {
    if (stored === undefined) return undefined;
    if (typeof stored !== 'object' || stored === null) return `is ${String(stored)}`;
    const version = this.#versions.get(stored) ?? this.#db.nextVersion();
    this.#versions.set(stored, version);
    return version;
  }
}

/** Finds the key of a document in its map by the id of the document. */
type KeyOf = (id: string, of: ReadonlyMap<unknown, unknown>) => unknown;

function stepKeyOf(id: string, of: ReadonlyMap<unknown, unknown>): string {
  for (const key of of.keys()) if (encodeKey(String(key)) === id) return String(key);
  return id;
}

function stretchOf<T extends { readonly id: string }>(
  all: readonly T[],
  { after = '', limit }: ListStretch,
): T[] {
  return all
    .filter(({ id }) => id > after)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}
