/** The runtime configuration in Firestore. */
import type { CompareAndSetResult, Version } from '../ports/run-store.ts';
import type { RuntimeConfig, RuntimeConfigStore, StoredRuntimeConfig } from '../ports/runtime-config.ts';
import { runtimeConfigCodec } from './codec/runtime-config.ts';
import { FirestoreStore } from './firestore-store.ts';
import { readVersioned, writeVersioned } from './versioned-document.ts';

const WHAT = 'the runtime configuration';

export class FirestoreRuntimeConfigStore extends FirestoreStore implements RuntimeConfigStore {
  async read(): Promise<StoredRuntimeConfig | undefined> {
    const named = { what: `read of ${WHAT}`, name: WHAT };
    const found = await readVersioned(this.paths.runtimeConfig(), runtimeConfigCodec, named);
    return found && { config: found.value, version: found.version };
  }

  async write(config: RuntimeConfig, seen: Version | undefined): Promise<CompareAndSetResult> {
    const members = runtimeConfigCodec.encode(config);
    return writeVersioned(this.paths.runtimeConfig(), `write of ${WHAT}`, { members, seen });
  }
}
