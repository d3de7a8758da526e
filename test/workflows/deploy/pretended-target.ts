/** A place to deploy to, in memory: acts once per key, as a real one must, and can be told to misbehave. */
import type {
  DeployPlace,
  DeployTarget,
  Release,
  ServiceHealth,
} from '../../../functions/src/workflows/deploy/target.ts';
import type { OutsideCall } from '../../../functions/src/workflows/outside-call.ts';

export class PretendedTarget implements DeployTarget {
  /** Actions in order; a repetition with the same key does nothing. */
  readonly acts: string[] = [];
  readonly #done = new Set<string>();
  version: string;
  isLocked = false;
  /** Unhealthy versions. */
  readonly ill = new Set<string>();
  /** Acts that fail, and how often still. */
  readonly failing = new Map<string, number>();

  constructor(version: string) {
    this.version = version;
  }

  async lock(_place: DeployPlace, call: OutsideCall): Promise<void> {
    if (this.isLocked && !this.#done.has(call.key)) throw new Error('another deployment holds the lock');
    this.#act('lock', call, () => {
      this.isLocked = true;
    });
  }

  async unlock(_place: DeployPlace, call: OutsideCall): Promise<void> {
    this.#act('unlock', call, () => {
      this.isLocked = false;
    });
  }

  async release({ version }: Release, call: OutsideCall): Promise<void> {
    this.#act(`release ${version}`, call, () => {
      this.version = version;
    });
  }

  async rollBack({ version }: Release, call: OutsideCall): Promise<void> {
    this.#act(`roll back to ${version}`, call, () => {
      this.version = version;
    });
  }

  async health({ version }: Release): Promise<ServiceHealth> {
    if (this.version !== version) return { healthy: false, detail: `${this.version} is there` };
    return this.ill.has(version) ? { healthy: false, detail: 'it answers 500' } : { healthy: true };
  }

  #act(what: string, { key }: OutsideCall, change: () => void): void {
    const left = this.failing.get(what) ?? 0;
    if (left > 0) {
      this.failing.set(what, left - 1);
      throw new Error(`${what} failed`);
    }
    if (this.#done.has(key)) return;
    this.#done.add(key);
    change();
    this.acts.push(what);
  }
}
