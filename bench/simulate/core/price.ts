/** Price of a million steps, part by part, at list prices and without free tiers. Pure. */
import { INSTANCE_GIB, PRICES } from '../limits.ts';
import { type Profile, totalOf } from '../traffic/profile.ts';
import type { Location, Result } from './plan.ts';

export interface Price {
  readonly reads: number;
  readonly writes: number;
  /** Deletion after the retention; docs/retention.md lists its operations. */
  readonly deletion: number;
  /** Storage of the runs for a month. */
  readonly storage: number;
  readonly tasks: number;
  readonly functions: number;
  readonly requests: number;
  readonly logs: number;
  readonly network: number;
  readonly total: number;
}

const MILLION = 1_000_000;
const GIB = 2 ** 30;
/** Reads of a run that is checked twice before its deletion, and the write that marks it: docs/retention.md. */
const LOOKS = 4;
const MARKS = 1;
/** The record of its start, which the TTL policy deletes. */
const EXPIRED = 1;
const TASK_OPERATIONS = 2;

/** US dollars for a million steps. `result` has the billed time of instances. */
export function priceOf(
  profile: Profile,
  result: Pick<Result, 'ended' | 'instanceSeconds' | 'apiSeconds'>,
  location: Location,
): Price {
  const runs = MILLION / profile.steps;
  const { reads, writes } = totalOf(profile);
  const usd = location === 'nam5' ? NAM5 : REGIONAL;
  const { deletion, storedBytes, tasks, dispatches } = profile;
  const seconds = (result.instanceSeconds + result.apiSeconds) / Math.max(1, result.ended);
  const requests = 1 + dispatches.length;
  const logBytes = profile.logBytes + requests * PRICES.requestLogBytes.value;
  const parts = {
    reads: runs * reads * usd.read,
    writes: runs * writes * usd.write,
    deletion:
      runs *
      ((deletion.reads + LOOKS) * usd.read + MARKS * usd.write + (deletion.deletes + EXPIRED) * usd.delete),
    storage: ((runs * storedBytes) / GIB) * usd.gibMonth,
    tasks: runs * tasks * TASK_OPERATIONS * PRICES.taskOperation.value,
    functions: runs * seconds * (PRICES.cpuSecond.value + INSTANCE_GIB * PRICES.gibSecond.value),
    requests: runs * requests * PRICES.request.value,
    logs: ((runs * logBytes) / GIB) * PRICES.logGib.value,
    network: ((runs * PRICES.answerBytes.value) / GIB) * PRICES.egressGib.value,
  };
  return { ...parts, total: Object.values(parts).reduce((sum, one) => sum + one, 0) };
}

const REGIONAL = {
  read: PRICES.regionalRead.value,
  write: PRICES.regionalWrite.value,
  delete: PRICES.regionalDelete.value,
  gibMonth: PRICES.regionalGibMonth.value,
};
const NAM5 = {
  read: PRICES.nam5Read.value,
  write: PRICES.nam5Write.value,
  delete: PRICES.nam5Delete.value,
  gibMonth: PRICES.nam5GibMonth.value,
};
