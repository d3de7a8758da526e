/**
 * Effects without a run: those of `effects.once` (docs/once.md). Their rows name an owner in place of a run, one for each key
 * of a tenant, and the time from which a person has to check them, because no run asks.
 */
import { type EffectChange, type EffectRecord, type EffectResolution, isByLookup } from './effect.ts';

const PREFIX = 'external:';
export const EXTERNAL_PLACE = { stepId: 'external', revision: 1 } as const;
/** Shown in journals, paths and queries. */
const KEY = /^[\x21-\x7e]{1,200}$/;
const MAX_TENANT_CHARS = 200;

export function isExternalKey(key: unknown): key is string {
  return typeof key === 'string' && KEY.test(key);
}

export function isExternalTenant(tenantId: unknown): tenantId is string {
  if (typeof tenantId !== 'string' || tenantId === '') return false;
  return tenantId.length <= MAX_TENANT_CHARS && tenantId.isWellFormed();
}

/**
 * Owner of the rows of a key. The tenant is escaped, so that each pair has its own owner. Slashes are escaped, because a document
 * id cannot contain them.
 */
export function externalOwner(tenantId: string, key: string): string {
  return `${ownersOf(tenantId)}${key.replaceAll('%', '%25').replaceAll('/', '%2F')}`;
}

export function ownersOf(tenantId: string): string {
  return `${PREFIX}${encodeURIComponent(tenantId)}:`;
}

/** Returns true for an owner in place of a run. */
export function isExternal(runId: string): boolean {
  return runId.startsWith(PREFIX);
}

/** The author's key. */
export function keyOfOwner(owner: string): string {
  const escaped = owner.slice(owner.indexOf(':', PREFIX.length) + 1);
  return escaped.replaceAll('%2F', '/').replaceAll('%25', '%');
}

/** Times of a call. All in ms. */
export interface ExternalTimes {
  readonly now: number;
  /** See {@link expiresAt}. */
  readonly keepMs: number | undefined;
  /** Longest duration of a call. Other processes ignore the row until then. */
  readonly underWayMs: number;
}

type AskedEffect = Pick<EffectRecord, 'status' | 'blockedBy' | 'resolution'> & {
  readonly presumedAt?: number | undefined;
};

/** True if a person must decide how the call ended, or whether it may be made. */
export function asksPerson({ status, blockedBy, resolution }: AskedEffect): boolean {
  return (
    status === 'attempted' || (status === 'blocked' && blockedBy !== 'mismatch' && resolution === undefined)
  );
}

/**
 * Time from which a person has to check a row; undefined: never. If the process of a call dies before it records the outcome, the
 * row becomes a question at the time by which the call must have ended. No process has to detect the death.
 */
export function effectAskingSince(
  effect: AskedEffect,
  { now, underWayMs }: Pick<ExternalTimes, 'now' | 'underWayMs'>,
): number | undefined {
  if (!asksPerson(effect)) return undefined;
  // A row that only presumes a call has no call under way.
  return effect.status === 'attempted' && effect.presumedAt === undefined ? now + underWayMs : now;
}

/** Adds the times of a row without a run to a change. */
export function askingChange(change: EffectChange, times: ExternalTimes): EffectChange {
  if (change.status === undefined) return change;
  return { ...change, askingSince: effectAskingSince(change, times), expiresAt: expiresAt(change, times) };
}

/** Time from which a row counts as deleted. Undefined if the call may still take effect, or the row is kept. */
export function expiresAt(
  effect: AskedEffect,
  { now, keepMs }: Pick<ExternalTimes, 'now' | 'keepMs'>,
): number | undefined {
  return keepMs === undefined || asksPerson(effect) ? undefined : now + keepMs;
}

/**
 * The row without its result if it has expired. The store deletes expired rows hours later and in any order; until then only the
 * number of the row counts.
 */
export function withoutExpiredResult(row: EffectRecord, now: number): EffectRecord {
  if (row.expiresAt === undefined || now < row.expiresAt) return row;
  const { resultText: _, recordedResultRef: __, blockedBy: ___, resolution: ____, ...rest } = row;
  // Decisions skip a row that only refers to another row's answer.
  return { ...rest, status: 'reused', originEffectId: row.effectId, responseHash: '' };
}

/** Returns true while another process may be making the call. `now`: by the time of the store. */
export function isUnderWay({ status, askingSince: until }: EffectRecord, now: number): boolean {
  return status === 'attempted' && until !== undefined && now < until;
}

/** A person has forbidden the call. `rows`: the newest first. */
export function forbiddenBy(
  rows: readonly EffectRecord[],
  requestHash: string,
): { readonly effectId: string; readonly resolution: EffectResolution } | undefined {
  const last = rows.find((row) => row.blockedBy !== 'mismatch' && row.requestHash === requestHash);
  if (last?.resolution?.outcome !== 'failed' || isByLookup(last.resolution)) return undefined;
  return { effectId: last.effectId, resolution: last.resolution };
}
