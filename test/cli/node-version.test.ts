import { expect, test } from '@jest/globals';
import { nodeRefusal } from '../../packages/cli/src/node-version.ts';
import { listening, saying } from './support/stage.ts';

test.each(['20.20.2', '18.0.0'])('Node %s is refused with advice before anything is loaded', (node) => {
  expect(nodeRefusal(node, '>=22')).toBe(
    `cairn: Node ${node} is too old; Node 22 or newer is needed\nInstall one, such as the current LTS of https://nodejs.org, and call cairn again.\n`,
  );
});

test.each(['22.18.0', '24.0.0', '100.0.0'])('Node %s is accepted', (node) => {
  expect(nodeRefusal(node, '>=22')).toBeUndefined();
});

test.each(['22.5.0', '22.12.0', '22.17.9'])(
  'cairn dev refuses Node %s before the local cloud is loaded',
  async (node) => {
    const { code, err } = await saying(['dev', '--port', '0'], { ...listening(), nodeVersion: node });
    expect([code, err]).toEqual([
      1,
      `NODE_TOO_OLD Cairn needs Node 22.18 or newer to serve functions; this is ${node}\nInstall Node 24, which Cloud Functions runs too, then run cairn dev again.\n`,
    ]);
  },
);
