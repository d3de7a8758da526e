/** Tests that need the real firebase-tools, which is too large for `npm test` to install. */
import { describe } from '@jest/globals';
import { isInstalled } from '../../packages/local/src/emulators/firebase-tools.ts';

export interface Needing {
  readonly title: string;
  /** Command that installs firebase-tools and runs the tests. */
  readonly command: 'test:deploy' | 'test:emulators';
}

/** Without firebase-tools the tests are skipped: their title and standard error say so, and name the command that runs them. */
export function withFirebaseTools({ title, command }: Needing, tests: () => void): void {
  if (isInstalled()) {
    describe(title, tests);
    return;
  }
  const absent = `${title}: NOT RUN, for firebase-tools is not installed (npm run ${command} installs it)`;
  process.stderr.write(`${absent}\n`);
  // Not a skip of convenience: `npm run` with the command never comes here.
  describe.skip(absent, tests);
}
