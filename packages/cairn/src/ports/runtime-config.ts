/**
 * Runtime configuration set by operators: the kill switch and the paused workflows. One small document, which every
 * dispatch and the scan read, and which people rarely change.
 */

import type { RestoreMark } from '../core/recovery/restored.ts';
import type { PauseMark } from '../core/schedule/schedule.ts';
import type { CompareAndSetResult, Version } from './run-store.ts';

export interface RuntimeConfig {
  /** True: nothing is dispatched, of any workflow or tenant. */
  readonly killSwitch: boolean;
  /** By workflow type. A map, because a type may have the name of a member that every object has. */
  readonly paused: ReadonlyMap<string, PauseMark>;
  /** The last restore of the database; absent if none is known. */
  readonly restore?: RestoreMark;
  /** Project and database in which the installation was first used. */
  readonly home?: string;
}

/** Default configuration. */
export const NOTHING_SET: RuntimeConfig = Object.freeze({ killSwitch: false, paused: new Map() });

export interface StoredRuntimeConfig {
  readonly config: RuntimeConfig;
  readonly version: Version;
}

/** Both methods throw `OutcomeUnknown` if it is unknown whether the call was applied. */
export interface RuntimeConfigStore {
  read(): Promise<StoredRuntimeConfig | undefined>;
  /** Replaces the version last seen as a whole; `seen` undefined: there must be no document. */
  write(config: RuntimeConfig, seen: Version | undefined): Promise<CompareAndSetResult>;
}

/** Cached read access of the engine: a process reads the document once for many queries. */
export interface RuntimeConfigReader {
  /**
   * A configuration that is at most `maxAgeMs` old; 0 always reads it. Rejects like {@link RuntimeConfigStore.read}, because an
   * unreadable configuration must not count as on or off.
   */
  current(maxAgeMs: number): Promise<RuntimeConfig>;
}
