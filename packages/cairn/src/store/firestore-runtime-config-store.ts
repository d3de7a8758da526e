/** The runtime configuration in Firestore. */
import type { Firestore } from '@google-cloud/firestore';
import type { Version } from '../ports/run-store.ts';
import type {
  ConfigWritten,
  RuntimeConfig,
  RuntimeConfigStore,
  StoredRuntimeConfig,
} from '../ports/runtime-config.ts';
import { call, isStale, isTaken } from './call.ts';
import { runtimeConfigCodec } from './codec/runtime-config.ts';
import { Paths } from './paths.ts';
import { lastUpdateTime, versionOf } from './version.ts';

export class FirestoreRuntimeConfigStore implements RuntimeConfigStore {
  readonly #paths: Paths;

  constructor(db: Firestore, prefix?: string) {
    this.#paths = new Paths(db, prefix);
  }

  async read(): Promise<StoredRuntimeConfig | undefined> {
    const document = this.#paths.runtimeConfig();
    const found = await call('read of the runtime configuration', () => document.get());
    const data = found.data();
    if (!data || !found.updateTime) return undefined;
    return {
      config: runtimeConfigCodec.decode(data, 'the runtime configuration'),
      version: versionOf(found.updateTime),
    };
  }

  async write(config: RuntimeConfig, seen: Version | undefined): Promise<ConfigWritten> {
    const document = this.#paths.runtimeConfig();
    const members = runtimeConfigCodec.encode(config);
    try {
      const { writeTime } = await call('write of the runtime configuration', () =>
        seen === undefined ? document.create(members) : document.update(members, lastUpdateTime(seen)),
      );
      return { kind: 'written', version: versionOf(writeTime) };
    } catch (error) {
      if (isTaken(error) || isStale(error)) return { kind: 'stale' };
      throw error;
    }
  }
}
