/** Listens to the meter of a Firestore server and assigns billed requests to the stages of the start and of each dispatch. */
import { type Firestore, Timestamp } from '@google-cloud/firestore';
import type { VirtualClock } from '../../../packages/cairn/src/testing/world/virtual-clock.ts';
import type { Meter, MeteredWrite } from '../../../packages/local-firestore/src/meter.ts';
import type { Entry, GrowingIndexes } from './growing-indexes.ts';
import type { Dispatch, Op, Profile, Range, Stage } from './profile.ts';

interface Written extends Op {
  readonly names: readonly string[];
  readonly reads: number;
  ranges: readonly Range[];
  documents: readonly number[];
}

type OpenStage =
  | { readonly kind: 'ops'; readonly ops: Written[] }
  | {
      readonly kind: 'bodies';
      readonly since: number;
      ms: number;
      readonly beside: { afterMs: number; op: Written }[];
    };

const DOCUMENTS = '/documents/';

export class Recorder {
  readonly #db: Firestore;
  readonly #clock: VirtualClock;
  readonly #indexes: GrowingIndexes;
  readonly #parts: { readonly of: 'start' | 'dispatch'; readonly stages: OpenStage[] }[] = [];
  readonly #unlooked: Written[] = [];
  readonly #entries = new Map<string, readonly Entry[]>();
  readonly #unseen = new Map<string, number>();
  readonly #sizes = new Map<string, number>();
  #atWork = 0;
  #isQuiet = false;

  constructor({
    meter,
    clock,
    db,
    indexes,
  }: {
    readonly meter: Meter;
    readonly clock: VirtualClock;
    readonly db: Firestore;
    readonly indexes: GrowingIndexes;
  }) {
    this.#db = db;
    this.#clock = clock;
    this.#indexes = indexes;
    const read = meter.read.bind(meter);
    const otherReads = meter.otherReads.bind(meter);
    const commit = meter.commit.bind(meter);
    meter.read = (call, name, runId) => {
      this.#read(name);
      read(call, name, runId);
    };
    meter.otherReads = (call, collection, count) => {
      for (let n = 0; n < count; n += 1) this.#read(undefined);
      otherReads(call, collection, count);
    };
    meter.commit = (call, writes) => {
      this.#commit(writes);
      commit(call, writes);
    };
  }

  begin(of: 'start' | 'dispatch'): void {
    this.#parts.push({ of, stages: [] });
  }

  /** Runs the body of a step for its simulated time, while the engine continues. */
  async body<T>(clock: VirtualClock, ms: number, result: T): Promise<T> {
    const part = this.#parts.at(-1);
    if (!part) throw new Error('a body runs outside of a dispatch');
    const { stages } = part;
    if (this.#atWork === 0) stages.push({ kind: 'bodies', since: clock.now(), ms: 0, beside: [] });
    this.#atWork += 1;
    if (ms > 0) await new Promise<void>((done) => void clock.timer(ms, done));
    this.#atWork -= 1;
    const stage = stages.at(-1);
    if (this.#atWork === 0 && stage?.kind === 'bodies') stage.ms = clock.now() - stage.since;
    return result;
  }

  /** Runs reads of the recording itself, which are not recorded. */
  async unseen<T>(read: () => Promise<T>): Promise<T> {
    this.#isQuiet = true;
    try {
      return await read();
    } finally {
      this.#isQuiet = false;
    }
  }

  async wakeAtOf(runId: string): Promise<number> {
    const document = await this.unseen(() => this.#db.collection('gwi_runs').doc(runId).get());
    const at: unknown = document.get('wakeAt');
    if (!(at instanceof Timestamp)) throw new Error('a started run has no wakeAt');
    return at.toMillis();
  }

  /** Finds the index entries of the last commits. Must be called before the engine learns of the commits. */
  async lookAtCommits(): Promise<void> {
    for (const op of this.#unlooked.splice(0)) {
      const ranges: Range[] = [];
      for (const name of new Set(op.names)) {
        const path = name.slice(name.indexOf(DOCUMENTS) + DOCUMENTS.length);
        const collection = collectionOf(name);
        if (!this.#indexes.has(collection)) continue;
        this.#unseen.set(name, (this.#unseen.get(name) ?? 0) + 1);
        const document = (await this.#db.doc(path).get()).data() ?? {};
        const before = this.#entries.get(name) ?? [];
        const entries = this.#indexes.entriesOf(collection, document);
        this.#entries.set(name, entries);
        for (const { index, by, text } of entries) {
          const isOld = before.some((one) => one.index === index && one.text === text);
          if (!isOld) ranges.push({ index, by });
        }
      }
      op.ranges = ranges;
    }
  }

  recorded(runId: string): Pick<Profile, 'start' | 'dispatches' | 'storedBytes'> {
    const ops = this.#parts.flatMap(({ stages }) => stages.flatMap(opsOf));
    const written = Map.groupBy(
      ops.flatMap(({ names }) => names),
      (name) => name,
    );
    const often = [...written].filter(([, times]) => times.length > 1).map(([name]) => name);
    for (const op of ops)
      op.documents = op.names.flatMap((name) => (often.includes(name) ? [often.indexOf(name)] : []));
    const [start, ...dispatches] = this.#parts;
    const sizes = [...this.#sizes].filter(([name]) => written.has(name));
    if (!sizes.some(([name]) => name.includes(runId))) throw new Error('the run wrote nothing');
    return {
      start: start?.stages.flatMap(opsOf).map(bare) ?? [],
      dispatches: dispatches.map(({ stages }): Dispatch => ({ stages: stages.map(closed) })),
      storedBytes: sizes.reduce((sum, [, bytes]) => sum + bytes, 0),
    };
  }

  #read(name: string | undefined): void {
    const unseen = name === undefined ? 0 : (this.#unseen.get(name) ?? 0);
    if (name !== undefined && unseen > 0) {
      this.#unseen.set(name, unseen - 1);
      return;
    }
    if (this.#isQuiet) return;
    this.#add({
      kind: 'read',
      reads: 1,
      writes: [],
      deletes: 0,
      bytes: 0,
      documents: [],
      ranges: [],
      names: [],
    });
  }

  #commit(metered: readonly MeteredWrite[]): void {
    const sets = metered.filter(({ kind }) => kind === 'set');
    const op: Written = {
      kind: 'commit',
      reads: 0,
      writes: sets.map(({ name }) => collectionOf(name)),
      deletes: metered.length - sets.length,
      bytes: sets.reduce((sum, { bytes }) => sum + bytes, 0),
      documents: [],
      ranges: [],
      names: sets.map(({ name }) => name),
    };
    for (const { name, kind, bytes } of metered) {
      if (kind === 'set') this.#sizes.set(name, bytes);
      else this.#sizes.delete(name);
    }
    this.#unlooked.push(op);
    this.#add(op);
  }

  #add(op: Written): void {
    const part = this.#parts.at(-1);
    if (!part) return;
    const last = part.stages.at(-1);
    if (last?.kind === 'bodies' && this.#atWork > 0) {
      last.beside.push({ afterMs: this.#clock.now() - last.since, op });
      return;
    }
    if (last?.kind === 'ops') last.ops.push(op);
    else part.stages.push({ kind: 'ops', ops: [op] });
  }
}

function opsOf(stage: OpenStage): Written[] {
  return stage.kind === 'ops' ? stage.ops : stage.beside.map(({ op }) => op);
}

function closed(stage: OpenStage): Stage {
  if (stage.kind === 'ops') return { kind: 'ops', ops: stage.ops.map(bare) };
  const { ms, beside } = stage;
  return { kind: 'bodies', ms, beside: beside.map(({ afterMs, op }) => ({ afterMs, op: bare(op) })) };
}

function bare({ names: _, ...op }: Written): Op {
  return op;
}

function collectionOf(name: string): string {
  const end = name.lastIndexOf('/');
  return name.slice(name.lastIndexOf('/', end - 1) + 1, end);
}
