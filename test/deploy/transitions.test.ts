import { afterAll, afterEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { withFirebaseTools } from '../emulators/with-firebase-tools.ts';
import { fieldsOf } from './google/masks.ts';
import { defaultAccount, type Fields, type Google, preparedProject } from './google/model.ts';
import { functionOf, missingBindings } from './support/bindings.ts';
import type { Deployment } from './support/firebase.ts';
import { change, plain, plainFunctions, shipped } from './support/projects.ts';

const DEPLOY = ['--project', 'new-project', '--set-up', '--only', 'functions', '--delete-functions'];

/** Calls that change something, or are made just before, by the permission that they need. */
const CALLS = [
  'cloudfunctions.functions.create',
  'cloudfunctions.functions.update',
  'cloudfunctions.functions.delete',
  'cloudfunctions.functions.sourceCodeSet',
  'run.services.setIamPolicy',
  'cloudtasks.queues.get',
  'cloudtasks.queues.create',
  'cloudtasks.queues.update',
  'cloudscheduler.jobs.get',
  'cloudscheduler.jobs.create',
  'cloudscheduler.jobs.update',
  'cloudscheduler.jobs.delete',
  'secretmanager.secrets.setIamPolicy',
  'resourcemanager.projects.setIamPolicy',
  'iam.serviceAccounts.create',
];
/** Google attempts a call for three minutes at least. */
const JOBS = {
  recoverRuns: { schedule: 'every 1 minutes', attemptDeadline: '180s' },
  fireSchedules: { schedule: 'every 1 minutes', attemptDeadline: '180s' },
  checkRuns: { schedule: 'every 60 minutes', attemptDeadline: '300s' },
  deleteExpired: { schedule: 'every 30 minutes', attemptDeadline: '540s' },
};

/** Each call of these kinds fails with 500, after as many as `skip`. */
function breakCalls(google: Google, broken: readonly { readonly call: string; readonly skip: number }[]) {
  google.broken = Object.fromEntries(broken.map(({ call, skip }) => [call, { skip, times: Infinity }]));
}

const jobsOf = ({ jobs }: Google) =>
  Object.fromEntries(Object.entries(jobs).map(([name, job]) => [name.split('firebase-schedule-')[1], job]));

interface Change {
  readonly region: string;
  readonly places: number;
  readonly queues: number;
  readonly isEdited: boolean;
  readonly job: Fields | null;
  readonly broken: { readonly call: string; readonly skip: number }[];
}

const callerOf = (job: Fields) => fieldsOf(fieldsOf(job.httpTarget).oidcToken).serviceAccountEmail;

withFirebaseTools({ title: 'a deployment that fails anywhere', command: 'test:deploy' }, () => {
  const google = preparedProject();
  const deployment = shipped(google);
  afterAll(() => deployment.close());

  const unchanged = { region: 'us-central1', places: 2_000, queues: 1, isEdited: false, job: null };
  /** Limits of a queue and settings of a job that failed to change after their function had. */
  const EXAMPLES: Change[] = [
    { ...unchanged, broken: [{ call: 'cloudtasks.queues.create', skip: 1 }] },
    { ...unchanged, places: 500, broken: [{ call: 'cloudtasks.queues.update', skip: 0 }] },
    ...[{ schedule: 'every 5 minutes' }, { attemptDeadline: '600s' }, { timeZone: 'Europe/Berlin' }].map(
      (job) => ({ ...unchanged, job, broken: [{ call: 'cloudscheduler.jobs.update', skip: 2 }] }),
    ),
  ];
  const changes: fc.Arbitrary<Change> = fc.record({
    region: fc.constantFrom('us-central1', 'us-east4'),
    places: fc.constantFrom(500, 1_000, 2_000),
    queues: fc.integer({ min: 1, max: 3 }),
    isEdited: fc.boolean(),
    /** Jobs of an earlier version had other settings. */
    job: fc.option(
      fc.record(
        {
          schedule: fc.constantFrom('every 5 minutes', 'every 2 hours'),
          attemptDeadline: fc.constantFrom('180s', '240s', '1800s'),
          timeZone: fc.constantFrom('UTC', 'Europe/Berlin'),
        },
        { requiredKeys: [] },
      ),
    ),
    broken: fc.uniqueArray(fc.record({ call: fc.constantFrom(...CALLS), skip: fc.nat(4) }), {
      selector: ({ call }) => call,
      minLength: 1,
      maxLength: 3,
    }),
  });

  test('is completed by the next, whatever both change', async () => {
    await fc.assert(
      fc.asyncProperty(changes, async ({ region, places, queues, isEdited, job, broken }) => {
        const env = { CAIRN_REGION: region, DRIVE_QUEUE_PLACES: places, DRIVE_QUEUES: queues };
        const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`);
        deployment.write('functions/.env.new-project', lines.join(''));
        if (isEdited || job !== null) change(deployment, 'functions');
        for (const one of Object.values(google.jobs)) Object.assign(one, { ...job });
        breakCalls(google, broken);
        await deployment.deploy(...DEPLOY);
        google.broken = {};
        const { code, output } = await deployment.deploy(...DEPLOY);
        expect([code, output]).toEqual([0, expect.stringContaining('Deploy complete!')]);
        expect(google.unanswered).toEqual([]);
        expect(missingBindings(google)).toEqual([]);
        const place = `projects/new-project/locations/${region}`;
        expect(Object.keys(google.functions).filter((name) => !name.startsWith(place))).toEqual([]);
        for (const name of ['drive', ...[2, 3].slice(0, queues - 1).map((nth) => `drive-${nth}`)])
          expect(google.queues[`${place}/queues/${name}`]).toMatchObject({
            state: 'RUNNING',
            rateLimits: { maxConcurrentDispatches: places },
          });
        const jobs = jobsOf(google);
        for (const [name, settings] of Object.entries(JOBS))
          expect(jobs[`${name}-${region}`]).toMatchObject({ ...settings, timeZone: 'UTC' });
      }),
      { numRuns: 6, examples: EXAMPLES.map((one) => [one]) },
    );
  });
});

/** Words of a command of firebase-tools itself. */
const FIREBASE = ['--project', 'new-project', '--non-interactive', '--force'];

withFirebaseTools({ title: 'the service account of functions', command: 'test:deploy' }, () => {
  let deployment: Deployment | undefined;
  afterEach(() => deployment?.close());

  /** Functions are made, and each fails afterwards. */
  const AFTER_CREATION = ['run.services.setIamPolicy', 'cloudtasks.queues.get', 'cloudscheduler.jobs.get'];

  test('stays after a first deployment whose functions all failed, because they run as it', async () => {
    const google = preparedProject();
    deployment = plain(google, "region: 'us-central1', managedAccount: true");
    breakCalls(
      google,
      AFTER_CREATION.map((call) => ({ call, skip: 0 })),
    );
    const failed = await deployment.deploy(...DEPLOY);
    const { serviceAccountEmail } = fieldsOf(functionOf(google, 'cairn-drive')?.serviceConfig);
    expect([failed.code, failed.output]).toEqual([
      2,
      expect.stringContaining(`the account ${serviceAccountEmail} stays`),
    ]);
    expect(Object.keys(google.accounts)).toContain(serviceAccountEmail);
    google.broken = {};
    const { code, output } = await deployment.deploy(...DEPLOY);
    expect([code, output]).toEqual([0, expect.stringContaining('Deploy complete!')]);
    expect(missingBindings(google)).toEqual([]);
  });

  test('is that of the functions also if another deployment made one of them at the same time, and this one ended', async () => {
    const google = preparedProject();
    deployment = plain(google, "region: 'us-central1', managedAccount: true");
    // Made after this deployment has looked: it is not listed.
    const name = 'projects/new-project/locations/us-central1/functions/cairn-drive';
    Object.defineProperty(google.functions, name, { value: {}, configurable: true, writable: true });
    const { code, output } = await deployment.deploy(...DEPLOY);
    expect([code, output]).toEqual([
      2,
      expect.stringContaining('cairn-drive cannot be created, because there is one meanwhile'),
    ]);
    expect(output).toContain('If another deployment is under way, wait until it has ended.');
    delete google.functions[name];
    const again = await deployment.deploy(...DEPLOY);
    expect([again.code, again.output]).toEqual([0, expect.stringContaining('Deploy complete!')]);
    expect(missingBindings(google)).toEqual([]);
  });

  test('is deleted after a first deployment that made no function', async () => {
    const google = preparedProject();
    deployment = plain(google, "region: 'us-central1', managedAccount: true");
    breakCalls(google, [{ call: 'cloudfunctions.functions.create', skip: 0 }]);
    expect((await deployment.deploy(...DEPLOY)).code).toBe(2);
    expect(Object.keys(google.accounts).filter((one) => one.startsWith('firebase-fn-'))).toEqual([]);
  });

  test('is made again if firebase deploy deleted it, because all functions failed', async () => {
    const google = preparedProject();
    deployment = plain(google, "region: 'us-central1', managedAccount: true");
    breakCalls(
      google,
      AFTER_CREATION.map((call) => ({ call, skip: 0 })),
    );
    const failed = await deployment.firebase('deploy', ...FIREBASE);
    expect([failed.code, failed.output]).toEqual([2, expect.stringContaining('Cleaning up managed service')]);
    const { serviceAccountEmail: deleted } = fieldsOf(functionOf(google, 'cairn-drive')?.serviceConfig);
    expect(Object.keys(google.accounts)).not.toContain(deleted);
    google.broken = {};
    const { code, output } = await deployment.deploy(...DEPLOY);
    expect([code, output]).toEqual([0, expect.stringContaining(`${deleted} of deployed functions is gone`)]);
    expect(missingBindings(google)).toEqual([]);
  });

  test('calls the scheduled functions also if they had another account before', async () => {
    const google = preparedProject();
    deployment = plain(google, "region: 'us-central1'");
    expect((await deployment.deploy(...DEPLOY)).code).toBe(0);
    plainFunctions(deployment, "region: 'us-central1', managedAccount: true");
    const { code, output } = await deployment.deploy(...DEPLOY);
    expect([code, output]).toEqual([0, expect.stringContaining('Deploy complete!')]);
    expect(missingBindings(google)).toEqual([]);
  });

  test('no longer calls scheduled functions that came back to the default account, if the first attempt failed at their jobs', async () => {
    const google = preparedProject();
    deployment = plain(google, "region: 'us-central1', managedAccount: true");
    expect((await deployment.deploy(...DEPLOY)).code).toBe(0);
    plainFunctions(deployment, "region: 'us-central1'");
    breakCalls(google, [{ call: 'cloudscheduler.jobs.update', skip: 0 }]);
    expect((await deployment.deploy(...DEPLOY)).code).toBe(2);
    google.broken = {};
    const { code, output } = await deployment.deploy(...DEPLOY);
    expect([code, output]).toEqual([0, expect.stringContaining('Deploy complete!')]);
    expect(new Set(Object.values(google.jobs).map(callerOf))).toEqual(new Set([defaultAccount(google)]));
  });

  test('gets roles back that somebody took from it, and keeps those that somebody added', async () => {
    const google = preparedProject();
    deployment = plain(google, "region: 'us-central1', managedAccount: true");
    expect((await deployment.deploy(...DEPLOY)).code).toBe(0);
    const { serviceAccountEmail } = fieldsOf(functionOf(google, 'cairn-drive')?.serviceConfig);
    const added = { role: 'roles/bigquery.user', members: [`serviceAccount:${serviceAccountEmail}`] };
    google.policy.bindings = [
      ...google.policy.bindings.filter(({ role }) => role !== 'roles/run.invoker'),
      added,
    ];
    expect(missingBindings(google)).toContain(`${serviceAccountEmail} may not call cairn-drive`);
    const { code, output } = await deployment.deploy(...DEPLOY);
    expect([code, output]).toEqual([0, expect.stringContaining('gets again: roles/run.invoker\n')]);
    expect(missingBindings(google)).toEqual([]);
    expect(google.policy.bindings).toContainEqual(added);
  });

  test('that has a role on the services only is deployed to without the permission to grant roles', async () => {
    const google = preparedProject();
    deployment = plain(google, "region: 'us-central1', managedAccount: true");
    expect((await deployment.deploy(...DEPLOY)).code).toBe(0);
    const invokers = google.policy.bindings.filter(({ role }) => role === 'roles/run.invoker');
    google.policy.bindings = google.policy.bindings.filter(({ role }) => role !== 'roles/run.invoker');
    for (const { policy } of Object.values(google.services))
      policy.bindings.push(...structuredClone(invokers));
    expect(missingBindings(google)).toEqual([]);
    const granted = structuredClone(google.policy);
    google.denied = ['resourcemanager.projects.setIamPolicy'];
    const { code, output } = await deployment.deploy(...DEPLOY);
    expect([code, output]).toEqual([
      0,
      expect.stringContaining('lack the permission to grant them: roles/run.invoker\n'),
    ]);
    expect(google.policy).toEqual(granted);
    expect(missingBindings(google)).toEqual([]);
  });

  /** docs/adopt.md, for projects that are deployed without `npm run deploy`. */
  test.each([
    [
      'all of it failed',
      ['run.services.setIamPolicy', 'cloudtasks.queues.get', 'cloudscheduler.jobs.get'],
      "region: 'us-central1', managedAccount: true",
      ['cairn'],
    ],
    [
      'it was without a managed account',
      [],
      "region: 'us-central1'",
      Object.keys(JOBS).map((name) => `cairn-${name}`),
    ],
  ])('lets firebase deploy repeat a first deployment after functions were deleted: %s', async (...given) => {
    const [, calls, options, deleted] = given;
    const google = preparedProject();
    deployment = plain(google, options);
    breakCalls(
      google,
      calls.map((call) => ({ call, skip: 0 })),
    );
    await deployment.firebase('deploy', ...FIREBASE);
    expect(google.functions).not.toEqual({});
    google.broken = {};
    expect((await deployment.firebase('functions:delete', ...deleted, ...FIREBASE)).code).toBe(0);
    plainFunctions(deployment, "region: 'us-central1', managedAccount: true");
    const { code, output } = await deployment.firebase('deploy', ...FIREBASE);
    expect([code, output]).toEqual([0, expect.stringContaining('Deploy complete!')]);
    expect(missingBindings(google)).toEqual([]);
  });
});

withFirebaseTools({ title: 'a move to another region', command: 'test:deploy' }, () => {
  const google = preparedProject();
  const deployment = plain(google, "region: 'us-central1', managedAccount: true");
  afterAll(() => deployment.close());

  test('that failed at the deletion of the former functions is taken back: their queues run again', async () => {
    expect((await deployment.deploy(...DEPLOY)).code).toBe(0);
    plainFunctions(deployment, "region: 'us-east4', managedAccount: true");
    breakCalls(google, [{ call: 'cloudfunctions.functions.delete', skip: 0 }]);
    expect((await deployment.deploy(...DEPLOY)).code).toBe(2);
    const queue = 'projects/new-project/locations/us-central1/queues/cairn-drive';
    expect(google.queues[queue]).toMatchObject({ state: 'DISABLED' });
    google.broken = {};
    plainFunctions(deployment, "region: 'us-central1', managedAccount: true");
    const { code, output } = await deployment.deploy(...DEPLOY);
    expect([code, output]).toEqual([0, expect.stringContaining('cairn-drive lacks an enabled queue')]);
    expect(google.queues[queue]).toMatchObject({ state: 'RUNNING' });
    expect(missingBindings(google)).toEqual([]);
  });
});

withFirebaseTools({ title: 'a function that only some may call', command: 'test:deploy' }, () => {
  const google = preparedProject();
  const deployment = plain(google, "region: 'us-central1'");
  afterAll(() => deployment.close());

  test('is unchanged while nobody has been given access', async () => {
    deployment.write(
      'functions/lib/index.js',
      "import { onRequest } from 'firebase-functions/https';\nexport const inner = onRequest({ invoker: 'private' }, () => {});\n",
    );
    expect((await deployment.deploy(...DEPLOY)).code).toBe(0);
    const { code, output } = await deployment.deploy(...DEPLOY);
    expect([code, output]).toEqual([0, expect.stringContaining('Skipped')]);
    expect(output).not.toContain('so it counts as changed');
  });
});
