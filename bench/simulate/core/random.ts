/** Pseudorandom numbers, determined by the seed. */
import { seededRandomness } from '../../../packages/cairn/src/testing/world/seeded-randomness.ts';

export class Random {
  /** A number in [0, 1). */
  readonly unit: () => number;

  constructor(seed: number) {
    this.unit = seededRandomness(seed).unit;
  }

  /** An integer in [0, count). */
  index(count: number): number {
    return Math.floor(this.unit() * count);
  }

  /** Lognormal: half are below `median`. */
  around(median: number, sigma: number): number {
    if (sigma === 0 || median === 0) return median;
    const normal = Math.sqrt(-2 * Math.log(1 - this.unit())) * Math.cos(2 * Math.PI * this.unit());
    return median * Math.exp(sigma * normal);
  }
}
