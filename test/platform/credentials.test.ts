/** Clients of Google's services in a process that cannot find its credentials at first, for example because the metadata server is slow. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { lazyCommitChannel } from '../../packages/cairn/src/platform/clients/commit-channel.ts';
import { lazyQueue } from '../../packages/cairn/src/platform/clients/tasks.ts';
import { systemClock } from '../../packages/cairn/src/platform/clock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-credentials-'));
  process.env.GOOGLE_APPLICATION_CREDENTIALS = join(folder, 'account.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Only the test uses its key; no call of a client does. */
const ACCOUNT = {
  type: 'service_account',
  project_id: 'shop',
  client_email: 'drive@cairn.invalid',
  private_key: 'none',
};

const target = (name: string) => ({ name, targetUrl: `http://127.0.0.1:1/${name}` });
const queue = () =>
  lazyQueue({
    settings: {
      project: 'shop',
      region: 'us-central1',
      tasksHost: undefined,
      wireHosts: new Set<string>(),
      drive: { shared: target('drive'), alone: target('driveAlone') },
      pools: {},
      serviceAccount: 'drive@cairn.invalid',
    },
    clock: systemClock,
    random: { unit: () => 0, token: () => 't', runId: () => 'run_1' },
  });

test.each<[string, () => { connect(): Promise<unknown> }]>([
  ['the channel of commits', () => lazyCommitChannel({ project: 'shop', emulator: undefined })],
  ['the queue', queue],
])('%s connects once there are credentials', async (_, open) => {
  const client = open();
  await expect(client.connect()).rejects.toThrow(/account\.json/);
  writeFileSync(join(folder, 'account.json'), JSON.stringify(ACCOUNT));
  await client.connect();
});
