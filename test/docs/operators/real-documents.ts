/** Collects the member names of Firestore documents in every state of the runs of a world. */
import type { RunEvent } from '../../../packages/cairn/src/core/run/events.ts';
import { initialState, reduce } from '../../../packages/cairn/src/core/run/reduce/index.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import type { RunDocuments } from '../../../packages/cairn/src/memory/memory-database.ts';
import { recordCodec } from '../../../packages/cairn/src/store/codec/access.ts';
import { effectCodec } from '../../../packages/cairn/src/store/codec/effect.ts';
import { checkpointCodec, eventCodec, stepCodec } from '../../../packages/cairn/src/store/codec/journal.ts';
import type { Members } from '../../../packages/cairn/src/store/codec/kinds.ts';
import { encodeNewSnapshot, encodeSnapshotUpdate } from '../../../packages/cairn/src/store/codec/snapshot.ts';
import { spill } from '../../../packages/cairn/src/store/pages/spill.ts';
import type { World } from '../../support/world.ts';

/** True for a plain object, which is a Firestore map with named members, unlike timestamps and bytes. */
const isMap = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

export class RealDocuments {
  /** For example `run.lease.task`. */
  readonly names = new Set<string>();

  /** Collects every state of ledger rows and records from now on; {@link read} collects runs. */
  follow({ db }: World): void {
    observe(db.effects, ({ record }) => this.#note('effect', effectCodec.encode(record)));
    observe(db.records, ({ record }) => this.#note('record', recordCodec.encode(record)));
  }

  /** Every state of every run, from its journal. */
  read(world: World): void {
    for (const { events, snapshot } of world.db.runs.values()) {
      let state: RunState | undefined;
      for (const event of events) {
        state = state ? reduce(state, event) : initialState(snapshot.id, event as RunEvent<'run_created'>);
        this.#note('event', eventCodec.encode(event));
        this.#note('run', encodeNewSnapshot(state));
      }
    }
    this.readEnds(world);
  }

  /** Reads the current documents. */
  readEnds({ db }: World): void {
    for (const run of db.runs.values()) this.#readEnd(run);
  }

  #readEnd({ checkpoints, steps, metadata, snapshot }: RunDocuments): void {
    const whole = { ...encodeNewSnapshot(snapshot, metadata) };
    const spilled = spill(whole, snapshot);
    this.#note('run', spilled?.members ?? whole);
    const beat =
      metadata.lastHeartbeatAt === undefined ? {} : encodeSnapshotUpdate({ metadata: { heartbeat: true } });
    for (const name of Object.keys(beat)) this.names.add(`run.${name}`);
    for (const checkpoint of checkpoints.values())
      this.#note('checkpoint', checkpointCodec.encode(checkpoint));
    for (const step of steps.values()) this.#note('step', stepCodec.encode(step));
  }

  #note(path: string, members: Members): void {
    for (const [name, value] of Object.entries(members)) {
      this.names.add(`${path}.${name}`);
      if (isMap(value)) this.#note(`${path}.${name}`, value);
    }
  }
}

function observe<V>(map: Map<string, V>, seen: (value: V) => void): void {
  for (const value of map.values()) seen(value);
  const set = map.set.bind(map);
  map.set = (key, value) => {
    seen(value);
    return set(key, value);
  };
}
