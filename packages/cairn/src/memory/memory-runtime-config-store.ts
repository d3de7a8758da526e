/** The runtime configuration in memory. */

import type { CompareAndSetResult, Version } from '../ports/run-store.ts';
import type { RuntimeConfig, RuntimeConfigStore, StoredRuntimeConfig } from '../ports/runtime-config.ts';
import { frozenCopy } from './memory-database.ts';
import { MemoryStore } from './memory-store.ts';

export class MemoryRuntimeConfigStore extends MemoryStore implements RuntimeConfigStore {
  async read(): Promise<StoredRuntimeConfig | undefined> {
    return this.db.runtimeConfig;
  }

  async write({ paused, ...config }: RuntimeConfig, seen: Version | undefined): Promise<CompareAndSetResult> {
    if (this.db.runtimeConfig?.version !== seen) return { kind: 'stale' };
    const version = this.db.nextVersion();
    const copy = new Map([...paused].map(([type, mark]) => [type, frozenCopy(mark)]));
    this.db.runtimeConfig = { config: { ...frozenCopy(config), paused: copy }, version };
    return { kind: 'written', version };
  }
}
