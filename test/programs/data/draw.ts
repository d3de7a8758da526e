/** Random choices of all kinds from one seed. The same seed always gives the same choices. */
import type { Randomness } from '../../../packages/cairn/src/ports/randomness.ts';
import { seededRandomness } from '../../support/world.ts';

export class Draw {
  readonly random: Randomness;

  constructor(seed: number) {
    this.random = seededRandomness(seed);
  }

  /** A whole number from 0, below `bound`. */
  below(bound: number): number {
    return Math.floor(this.random.unit() * bound);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.random.unit() < probability;
  }

  pick<T>(from: readonly T[]): T {
    const found = from[this.below(from.length)];
    if (found === undefined) throw new Error('nothing to pick from');
    return found;
  }

  /** Picks by weight. */
  weighted<T>(from: readonly (readonly [weight: number, T])[]): T {
    let left = this.random.unit() * from.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, what] of from) {
      left -= weight;
      if (left < 0) return what;
    }
    throw new Error('nothing to pick from');
  }

  /** At most `count` different elements, in their order. */
  some<T>(from: readonly T[], count: number): T[] {
    const left = from.map((_, i) => i);
    const taken: number[] = [];
    while (taken.length < count && left.length > 0) taken.push(...left.splice(this.below(left.length), 1));
    return taken.sort((a, b) => a - b).map((i) => from[i] as T);
  }
}
