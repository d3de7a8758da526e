/** Errors, lost connections and signals in the middle of a deployment, and the same command again. */
import { afterEach, expect, test } from '@jest/globals';
import { withFirebaseTools } from '../emulators/with-firebase-tools.ts';
import { fieldsOf } from './google/masks.ts';
import { type BrokenCall, type Fields, type Google, hasRole, preparedProject } from './google/model.ts';
import { functionOf, missingBindings } from './support/bindings.ts';
import type { Deployment } from './support/firebase.ts';
import { addCodebase, plain, plainFunctions, shipped } from './support/projects.ts';

const DEPLOY = ['--project', 'new-project', '--set-up', '--only', 'functions'];
const OPTIONS = "region: 'us-central1', managedAccount: true";
const HASH = 'firebase-functions-hash';
const ETAG = 'firebase-declarative-security-etag';
const once = (how: NonNullable<BrokenCall['how']>, skip = 0): BrokenCall => ({ skip, times: 1, how });
const managed = ({ accounts }: Google) =>
  Object.keys(accounts).filter((one) => one.startsWith('firebase-fn-'));

withFirebaseTools({ title: 'a fault in the middle of a deployment', command: 'test:deploy' }, () => {
  let deployment: Deployment | undefined;
  afterEach(() => deployment?.close());

  /** @returns what was said */
  async function expectDeployed(given: Deployment): Promise<string> {
    const { code, output } = await given.deploy(...DEPLOY);
    expect([code, output]).toEqual([0, expect.stringContaining('Deploy complete!')]);
    expect(given.google.unanswered).toEqual([]);
    expect(missingBindings(given.google)).toEqual([]);
    return output;
  }

  test.each([
    ['iam.serviceAccounts.create', 'SIGTERM'],
    ['cloudfunctions.functions.create', 'SIGINT'],
  ] as const)('%s is the last call before %s: the next deployment uses the account', async (call, signal) => {
    const google = preparedProject();
    deployment = plain(google, OPTIONS);
    google.broken = { [call]: once(() => deployment?.signal(signal)) };
    const { code, output } = await deployment.deploy(...DEPLOY);
    expect([code, output]).toEqual([
      1,
      expect.stringContaining('Interrupted. What is deployed already stays.'),
    ]);
    expect(managed(google)).toHaveLength(1);
    google.broken = {};
    await expectDeployed(deployment);
    expect(managed(google)).toEqual([
      fieldsOf(functionOf(google, 'cairn-drive')?.serviceConfig).serviceAccountEmail,
    ]);
  });

  test('the next deployment uses the account of each codebase', async () => {
    const google = preparedProject();
    deployment = plain(google, OPTIONS);
    addCodebase(deployment, 'shop', OPTIONS);
    google.broken = { 'iam.serviceAccounts.create': once(() => deployment?.signal('SIGTERM'), 1) };
    expect((await deployment.deploy(...DEPLOY)).code).toBe(1);
    const accounts = managed(google);
    expect(accounts).toHaveLength(2);
    google.broken = {};
    await expectDeployed(deployment);
    const accountOf = (id: string) => fieldsOf(functionOf(google, id)?.serviceConfig).serviceAccountEmail;
    expect(['cairn-drive', 'shop-drive'].map(accountOf)).toEqual(accounts);
    expect(managed(google)).toEqual(accounts);
  });

  test('an account that somebody else created under its name is not used', async () => {
    const google = preparedProject();
    deployment = plain(google, OPTIONS);
    google.broken = { 'iam.serviceAccounts.create': once({ status: 409, reason: 'ALREADY_EXISTS' }) };
    const { code, output } = await deployment.deploy(...DEPLOY);
    expect([code, output]).toEqual([1, expect.stringMatching(/cairn: the cause: .*HTTP Error: 409/)]);
    expect([google.functions, managed(google)]).toEqual([{}, []]);
  });

  test('a role that a failed deployment did not remove is removed by the next', async () => {
    const google = preparedProject();
    deployment = plain(google, `${OPTIONS}, topics: ['orders']`);
    await expectDeployed(deployment);
    const [account = ''] = managed(google);
    const role = 'roles/eventarc.eventReceiver';
    expect(hasRole(google, account, role)).toBe(true);
    const before = fieldsOf(functionOf(google, 'cairn-api')?.labels)[ETAG];
    plainFunctions(deployment, OPTIONS);
    google.broken = { 'cloudfunctions.functions.update': { skip: 1, times: Infinity } };
    expect((await deployment.deploy(...DEPLOY, '--delete-functions')).code).toBe(2);
    google.broken = {};
    // firebase-tools compares only with the label of the function that Google lists first.
    const isNew = ({ labels }: Fields) => fieldsOf(labels)[ETAG] !== before;
    google.functions = Object.fromEntries(
      Object.entries(google.functions).sort(
        ([, one], [, other]) => Number(isNew(other)) - Number(isNew(one)),
      ),
    );
    const { code, output } = await deployment.deploy(...DEPLOY, '--delete-functions');
    expect([code, output]).toEqual([
      0,
      expect.stringContaining(`has roles that an incomplete deployment did not remove: ${role}\n`),
    ]);
    expect(hasRole(google, account, role)).toBe(false);
    expect(missingBindings(google)).toEqual([]);
  });

  test('a role that cannot be removed at the end is named with the command that removes it', async () => {
    const google = preparedProject();
    deployment = plain(google, `${OPTIONS}, topics: ['orders']`);
    await expectDeployed(deployment);
    plainFunctions(deployment, OPTIONS);
    google.broken = { 'resourcemanager.projects.setIamPolicy': { skip: 0, times: Infinity } };
    const { code, output } = await deployment.deploy(...DEPLOY, '--delete-functions');
    const member = `serviceAccount:${managed(google)[0]}`;
    expect([code, output]).toEqual([
      1,
      expect.stringContaining(
        `gcloud projects remove-iam-policy-binding new-project --member=${member} --role=roles/eventarc.eventReceiver`,
      ),
    ]);
  });

  test('a permission that turns out to be missing is named with where its role is', async () => {
    const google = preparedProject();
    deployment = plain(google, OPTIONS);
    const denied = { status: 403, reason: 'PERMISSION_DENIED', message: "Permission 'a.b.create' denied" };
    google.broken = { 'cloudtasks.queues.create': { skip: 0, times: Infinity, how: denied } };
    const { code, output } = await deployment.deploy(...DEPLOY);
    expect([code, output]).toEqual([2, expect.stringContaining("HTTP Error: 403, Permission 'a.b.create'")]);
    expect(output).toContain('cairn: you lack a permission; step 3 of docs/deploy.md');
  });

  test('a signal also ends the creation of further queues, and the next deployment creates them', async () => {
    const google = preparedProject();
    deployment = plain(google, OPTIONS);
    deployment.write('functions/.env', 'DRIVE_QUEUES=30\n');
    google.broken = { 'cloudtasks.queues.update': once(() => deployment?.signal('SIGTERM'), 2) };
    expect((await deployment.deploy(...DEPLOY)).code).toBeNull();
    google.broken = {};
    await expectDeployed(deployment);
    expect(Object.keys(google.queues)).toHaveLength(31);
  });

  test('a call that Google refuses for now is repeated, which is reported', async () => {
    const google = preparedProject();
    deployment = plain(google, OPTIONS);
    const unavailable = { status: 503, reason: 'UNAVAILABLE', message: 'unavailable' };
    const quota = { status: 429, reason: 'RESOURCE_EXHAUSTED', headers: { 'retry-after': '7' } };
    google.broken = {
      'cloudtasks.queues.get': { skip: 0, times: 3, how: unavailable },
      'cloudfunctions.functions.create': { skip: 1, times: 2, how: quota },
    };
    const output = await expectDeployed(deployment);
    expect(output).toContain('had HTTP Error: 503, unavailable: tried again for up to 50 minutes');
    expect(output).toMatch(/cairn: Failed to create function \S+: tried again for up to 50 minutes/);
  });

  test('answers that are lost are found by the next deployment', async () => {
    const google = preparedProject();
    deployment = plain(google, OPTIONS);
    google.broken = Object.fromEntries(
      ['cloudfunctions.functions.create', 'cloudtasks.queues.create', 'cloudscheduler.jobs.create'].map(
        (call) => [call, once('lost')],
      ),
    );
    const { code, output } = await deployment.deploy(...DEPLOY);
    expect([code, output]).toEqual([
      2,
      expect.stringContaining('deploy: The deployment failed; the reason is above.'),
    ]);
    google.broken = {};
    await expectDeployed(deployment);
  });

  test('functions that a concurrent deployment changed later are reported, and deployed by the next', async () => {
    const google = preparedProject();
    deployment = plain(google, OPTIONS);
    const labelsOf = () => fieldsOf(functionOf(google, 'cairn-api')?.labels);
    google.broken = {
      'artifactregistry.repositories.get': once(() => Object.assign(labelsOf(), { [HASH]: 'theirs' })),
    };
    const { code, output } = await deployment.deploy(...DEPLOY);
    expect([code, output]).toEqual([
      1,
      expect.stringContaining('Another deployment at the same time changed cairn-api last'),
    ]);
    google.broken = {};
    await expectDeployed(deployment);
    expect(labelsOf()[HASH]).toBe(fieldsOf(functionOf(google, 'cairn-drive')?.labels)[HASH]);
  });
});

withFirebaseTools({ title: 'a fault in the checks of npm run deploy', command: 'test:deploy' }, () => {
  let deployment: Deployment | undefined;
  afterEach(() => deployment?.close());

  const off = {
    status: 403,
    reason: 'PERMISSION_DENIED',
    message:
      'The API has not been used in project 123456789012 before or it is disabled. Enable it by visiting PAGE then retry.',
  };

  test.each([
    ['firebase.projects.get', 'cut' as const, 'Failed to make request to https://firebase.googleapis.com'],
    ['firebase.projects.get', off, 'Enable it by visiting PAGE'],
    ['resourcemanager.projects.getIamPolicy', { status: 503, reason: 'UNAVAILABLE' }, 'HTTP Error: 503'],
  ])('%s fails: nothing is deployed, and the reason is told', async (call, how, reason) => {
    const google = preparedProject();
    deployment = shipped(google);
    google.broken = { [call]: { skip: 0, times: Infinity, how } };
    const { code, output } = await deployment.deploy(...DEPLOY);
    expect([code, output]).toEqual([1, expect.stringContaining(reason)]);
    expect(output).toContain('Nothing was deployed. Run the same command again.');
    expect(google.functions).toEqual({});
  });

  test('permissions are checked after --set-up has enabled the API that tells them', async () => {
    const google = preparedProject();
    deployment = shipped(google);
    google.apis = google.apis.filter((api) => api !== 'cloudresourcemanager.googleapis.com');
    google.denied = ['run.services.setIamPolicy'];
    google.broken = {
      'cloudresourcemanager.googleapis.com': once(off),
      'resourcemanager.projects.getIamPolicy': once(off),
    };
    const { code, output } = await deployment.deploy(...DEPLOY);
    expect([code, output]).toEqual([
      1,
      expect.stringContaining('set up: enabled cloudresourcemanager.googleapis.com'),
    ]);
    expect(output).toContain('--role=roles/run.admin');
  });
});
