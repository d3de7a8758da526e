import { expect, test } from '@jest/globals';
import { closingMessage, uncheckedMessage } from '../../../scripts/deploy/messages.ts';

test.each([
  [0, false, undefined],
  [0, true, undefined],
  [2, false, /^The deployment failed; the reason is above\. .* Then run the same command again/],
  [null, false, /^Interrupted\. .*Run the same command again/],
  [2, true, /^The deployment failed; the reason is above\. Nothing was deployed\.$/],
  [null, true, /^Interrupted\. Nothing was deployed\.$/],
])('a deployment that ends with code %p, dry %p, is followed by %p', (code, dryRun, message) => {
  const said = closingMessage({ code }, dryRun);
  expect(said ?? '').toMatch(message ?? /^$/);
});

test('a check that Google does not answer says that nothing was deployed', () => {
  expect(uncheckedMessage('HTTP Error: 503, unavailable')).toBe(
    'The project could not be checked: HTTP Error: 503, unavailable\n    Nothing was deployed. Run the same command again.',
  );
});
