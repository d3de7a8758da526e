/**
 * Diagnosis of the installation by this instance. Results are cached for some seconds, so that frequent requests cost
 * no more than one.
 *
 * Must not: change anything.
 */
import type { OperationReader } from '../../ports/diagnosis/operations.ts';
import { SharedAnswers } from '../shared-answers.ts';
import type { DiagnosisFinding } from './finding.ts';
import {
  type CurrentObservations,
  type ObserveDeps,
  observeNow,
  observeSlowly,
  type SlowObservations,
  UNSEEN,
} from './observe.ts';

/** Short, so that an operator sees a fix; each diagnosis costs a read per due or leased run. */
export const FAST_TTL_MS = 5_000;
/** Indexes, versions and expired documents: about 20 reads, and two for each version in use by a tenant. */
export const SLOW_TTL_MS = 60_000;

export interface DiagnosisDeps extends ObserveDeps {
  /** Billed operations of this instance. */
  readonly operations: OperationReader;
}

export interface Diagnosis extends Omit<CurrentObservations, 'findings'> {
  /** Time of the diagnosis by the clock of the instance, epoch ms. */
  readonly at: number;
  readonly findings: readonly DiagnosisFinding[];
  readonly operations: OperationReader;
}

const ORDER: readonly DiagnosisFinding['state'][] = ['wrong', 'note', 'well'];

export class Diagnostician {
  readonly #deps: DiagnosisDeps;
  readonly #now: SharedAnswers<CurrentObservations & Pick<Diagnosis, 'at'>>;
  readonly #slow: SharedAnswers<SlowObservations>;

  constructor(deps: DiagnosisDeps) {
    const { clock } = deps;
    this.#deps = deps;
    this.#now = new SharedAnswers({ clock, ttlMs: FAST_TTL_MS, most: 1 });
    this.#slow = new SharedAnswers({ clock, ttlMs: SLOW_TTL_MS, ttlOf: slowTtlOf, most: 1 });
  }

  /** @throws CairnError UNAVAILABLE if nothing could be determined */
  async diagnose(): Promise<Diagnosis> {
    const deps = this.#deps;
    const at = deps.clock.now();
    const [now, slow] = await Promise.all([
      this.#now.get('now', async () => ({ ...(await observeNow(deps)), at })),
      this.#slow.get('slow', () => observeSlowly(deps)),
    ]);
    const findings = [...now.findings, ...slow.findings].sort(
      (a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state),
    );
    return { ...now, findings, operations: deps.operations };
  }
}

/** Observations with failed queries are cached only briefly. */
function slowTtlOf({ findings }: SlowObservations): number {
  return findings.some(({ code }) => code === UNSEEN) ? FAST_TTL_MS : SLOW_TTL_MS;
}
