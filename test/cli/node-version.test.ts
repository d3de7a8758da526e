import { expect, test } from '@jest/globals';
import { nodeRefusal } from '../../packages/cli/src/node-version.ts';

test.each(['20.20.2', '18.0.0'])('Node %s is refused before anything is loaded, with the remedy', (node) => {
  expect(nodeRefusal(node, '>=22')).toBe(
    `cairn: Node ${node} is too old; Node 22 or newer is needed\nInstall one, such as the current LTS of https://nodejs.org, and call cairn again.\n`,
  );
});

test.each(['22.18.0', '24.0.0', '100.0.0'])('Node %s is accepted', (node) => {
  expect(nodeRefusal(node, '>=22')).toBeUndefined();
});
