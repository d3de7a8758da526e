// Runs the property tests with many more cases than `npm test`: new seeds, every order, every crash. Then runs the tests with
// real processes without the frames of the local cloud. Takes an hour of a core. A failure reports its seed. Further arguments go
// to Jest, such as the path of a test.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const MORE = {
  DRAWS: 'new',
  EVERY_ORDER: '1',
  EVERY_CRASH: '1',
  EVERY_FLOW: '1',
  SEEDS: '3000',
  RACES: '600',
  FUZZ_INPUTS: '20000',
  HISTORIES: '2000',
  QUERY_ROUNDS: '13',
  INTEGRITY_DAMAGES: '10000',
  INTEGRITY_STORMS: '500',
  STORM_KEYS: '25',
  PROGRAMS: '200',
  DIMENSIONS: '200',
  RETENTION_RUNS: '10000',
  SCAN_RUNS: '600',
  BODIES: '2000',
  SWEEP_FLOWS: 'all',
  KILLS: '12',
};
const DRAWN = [
  'test/programs/',
  'test/engine/races/',
  'test/engine/events/',
  'test/engine/approvals/',
  'test/engine/mailbox/races',
  'test/engine/scan/many-runs',
  'test/operations/cancel-races',
  'test/integrity/',
  'test/store/pages/',
  'test/local/firestore/',
  'test/api/fuzz/',
  'test/console/flows',
  'test/triggers/',
  'test/api/access/non-interference',
  'test/operations/retention/many-runs',
  'test/platform/body-guard/',
  'test/system/cloud-crash',
  'test/system/storms/',
  'test/system/sweep-sample',
];

/**
 * Tests with real processes, by gRPC and HTTP only and with the usual Node flags of a cloud; `npm test` uses the shortcuts of the
 * local cloud.
 */
const WITHOUT_FRAMES = { paths: ['test/system/'], env: { CAIRN_WIRE_HOSTS: '', CAIRN_SHORT_LIVED: '' } };

/** Long enough for a test with a hundred times its cases on a busy machine. */
const TEST_TIMEOUT_MS = 40 * 60_000;

const words = process.argv.slice(2);
const jest = ['--disable-warning=ExperimentalWarning', '--experimental-vm-modules'];
const rounds =
  words.length > 0 ? [{ paths: words, env: MORE }] : [{ paths: DRAWN, env: MORE }, WITHOUT_FRAMES];
const statuses = rounds.map(
  ({ paths, env }) =>
    spawnSync(
      process.execPath,
      [...jest, join(root, 'node_modules/jest/bin/jest.js'), `--testTimeout=${TEST_TIMEOUT_MS}`, ...paths],
      {
        cwd: root,
        stdio: 'inherit',
        env: { ...process.env, ...env },
      },
    ).status ?? 1,
);
process.exit(Math.max(...statuses));
