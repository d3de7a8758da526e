/** Dependencies of retention. Types only. */
import type { RetentionOf } from '../../core/retention/policy.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { MailboxStore } from '../../ports/mailbox-store.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { ErasureStore } from '../../ports/runs/erasure-store.ts';
import type { RetentionStore } from '../../ports/runs/retention-store.ts';
import type { RuntimeConfigReader } from '../../ports/runtime-config.ts';

/** Dependencies for deciding about lineages. */
export interface LineageDeps {
  readonly retention: RetentionStore;
  readonly retentionOf: RetentionOf;
  readonly clock: Clock;
  /** Time for which a marked run is left alone, ms. Default: what functions of 540 s need. */
  readonly graceMs?: number;
}

/** Dependencies for marking and deleting lineages after the decision. */
export interface CarryDeps extends LineageDeps {
  readonly log: Log;
}

/** Dependencies for deleting data of erasures. */
export interface ErasingDeps extends CarryDeps {
  readonly erasures: ErasureStore;
  readonly mailboxes: MailboxStore;
  readonly random: Randomness;
  readonly store: Pick<RunStore, 'load' | 'readEvents'>;
}

/** Dependencies for deleting expired runs and erased data. */
export interface DeletionDeps extends ErasingDeps {
  readonly runtime: RuntimeConfigReader;
}
