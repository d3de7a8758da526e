/** Tests whose results other tests use: each runs once, in whatever order the tests run. */
import { test } from '@jest/globals';

type Run = () => Promise<void>;

/** @param carryOut prepares a scene and runs it */
export function scenes(carryOut: (run: Run) => Promise<void>) {
  const all: Run[] = [];
  return {
    /** Declares a test. */
    scene(name: string, run: Run): void {
      let done: Promise<void> | undefined;
      const once = () => {
        done ??= carryOut(run);
        return done;
      };
      all.push(once);
      test(name, once);
    },
    /** Runs the scenes whose tests have not run yet. */
    async runAll(): Promise<void> {
      for (const once of all) await once();
    },
  };
}
