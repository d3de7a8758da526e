/** For every problem, ways to make it by hand, and what a repair does about it; and what these are made of. */
import type { IdempotencyRecord } from '../../../../packages/cairn/src/core/decisions/idempotency.ts';
import type { EffectRecord } from '../../../../packages/cairn/src/core/effects/effect.ts';
import { seqId } from '../../../../packages/cairn/src/core/encoding/ids.ts';
import type { ProblemCode } from '../../../../packages/cairn/src/core/integrity/problems.ts';
import type { EventDraft, EventType } from '../../../../packages/cairn/src/core/run/events.ts';
import { type Bench, TENANT } from '../bench.ts';

export interface Case {
  readonly code: ProblemCode;
  readonly how: string;
  readonly run: () => Promise<Bench>;
  readonly damage: (bench: Bench) => void;
  /** `healed`: nothing is left. `refused`: a person has to see to it. */
  readonly repair: 'healed' | 'refused';
  /** Further problems that follow. */
  readonly also?: readonly ProblemCode[];
}

export const THIRD = seqId(3);
export const MAILBOX = { tenantId: TENANT, event: 'built', key: 'main' };

export function said<T extends EventType>(
  type: T,
  data: Extract<EventDraft, { type: T }>['data'],
): EventDraft {
  return { type, data, initiator: 'system' } as unknown as EventDraft;
}

export function isResolved({ type }: { readonly type: EventType }): boolean {
  return type === 'wait_resolved';
}

/** Id of the checkpoint of a step, or at a boundary. */
export function checkpointOf({ shelf }: Bench, which: string): string {
  const found = shelf
    .all()
    .find(
      ({ folder, members }) =>
        folder === 'checkpoints' && (members.stepId === which || members.boundary === which),
    );
  if (!found) throw new Error(`there is no checkpoint '${which}'`);
  return found.id;
}

export function changeEffect({ world }: Bench, changes: Partial<EffectRecord>): void {
  for (const [id, { record, version }] of world.db.effects)
    world.db.effects.set(id, { record: { ...record, ...changes } as EffectRecord, version });
}

export function changeRecord({ world }: Bench, changes: Partial<IdempotencyRecord>): void {
  for (const [key, { record, version }] of world.db.records)
    world.db.records.set(key, { record: { ...record, ...changes }, version });
}
