/** Tests that need the real firebase-tools, which is too large for `npm test` to install. */
import { describe } from '@jest/globals';
import { isInstalled } from '../../../packages/local/src/emulators/firebase-tools.ts';

const ABSENT = 'NOT RUN, for firebase-tools is not installed (npm run test:deploy installs it)';

/** Says aloud that the tests are not run where firebase-tools is absent. */
export function withFirebaseTools(title: string, tests: () => void): void {
  if (isInstalled()) {
    describe(title, tests);
    return;
  }
  process.stderr.write(`${title}: ${ABSENT}\n`);
  describe.skip(`${title}: ${ABSENT}`, tests);
}
