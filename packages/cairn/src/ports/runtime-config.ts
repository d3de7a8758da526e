/**
 * Runtime configuration set by operators: the kill switch and the paused workflows. One small document, read by every
 * dispatch and the scan, changed rarely and by people.
 */

import type { RestoreMark } from '../core/recovery/restored.ts';
import type { PauseMark } from '../core/schedule/schedule.ts';
import type { CompareAndSetResult, Version } from './run-store.ts';

export interface RuntimeConfig {
  /** On: nothing is driven, of no workflow and no tenant. */
  readonly killSwitch: boolean;
  /** By type of the workflow. A map, since a type may have a name that every object has a member of. */
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

/** Both throw `OutcomeUnknown` where it cannot be known whether the call was applied. */
export interface RuntimeConfigStore {
  read(): Promise<StoredRuntimeConfig | undefined>;
  /** Replaces the version last seen as a whole; `seen` undefined: there must be none yet. */
  write(config: RuntimeConfig, seen: Version | undefined): Promise<CompareAndSetResult>;
}

/** Cached read access of the engine: a process reads the document once for many queries. */
export interface RuntimeConfigReader {
  /**
   * A configuration that is at most `maxAgeMs` old; 0 reads it again. Rejects like {@link RuntimeConfigStore.read}: an
   * unreadable configuration must not be taken for on or off.
   */
  current(maxAgeMs: number): Promise<RuntimeConfig>;
}
