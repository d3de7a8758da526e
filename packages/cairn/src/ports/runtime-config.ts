/**
 * What operators set while the installation runs: the kill switch and the workflows that are paused. One small
 * document, read by every drive and the scan, changed rarely and by people.
 */
import type { RestoreMark } from '../core/recovery/restored.ts';
import type { Version } from './run-store.ts';

/** Who paused a workflow, when, and why. */
export interface PauseMark {
  /** Epoch ms. */
  readonly since: number;
  /** The principal, as journals name it. */
  readonly by: string;
  readonly reason?: string;
}

export interface RuntimeConfig {
  /** On: nothing is driven, of no workflow and no tenant. */
  readonly killSwitch: boolean;
  /** By type of the workflow. A map, since a type may have a name that every object has a member of. */
  readonly paused: ReadonlyMap<string, PauseMark>;
  /** The database was restored; absent: never, as far as anybody knows. */
  readonly restore?: RestoreMark;
  /** Project and database in which the installation was first used. */
  readonly home?: string;
}

/** What holds where nobody ever set anything. */
export const NOTHING_SET: RuntimeConfig = Object.freeze({ killSwitch: false, paused: new Map() });

export interface StoredRuntimeConfig {
  readonly config: RuntimeConfig;
  readonly version: Version;
}

export type ConfigWritten =
  | { readonly kind: 'written'; readonly version: Version }
  /** Another was faster: read, decide again. */
  | { readonly kind: 'stale' };

/** Both throw `OutcomeUnknown` where it cannot be known whether the call was applied. */
export interface RuntimeConfigStore {
  read(): Promise<StoredRuntimeConfig | undefined>;
  /** Replaces the version last seen as a whole; `seen` undefined: there must be none yet. */
  write(config: RuntimeConfig, seen: Version | undefined): Promise<ConfigWritten>;
}

/** How the engine asks: a process reads the document once for many questions. */
export interface RuntimeConfigReader {
  /**
   * What held at some moment of the last `maxAgeMs`; 0 reads anew. Rejects like {@link RuntimeConfigStore.read}: nobody
   * may take for switched on or off what could not be read.
   */
  current(maxAgeMs: number): Promise<RuntimeConfig>;
}
