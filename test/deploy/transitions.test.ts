import { afterAll, afterEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { withFirebaseTools } from '../emulators/with-firebase-tools.ts';
import { fieldsOf } from './google/masks.ts';
import { defaultAccount, type Google, newProject } from './google/model.ts';
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
const SCHEDULES = {
  recoverRuns: 'every 1 minutes',
  fireSchedules: 'every 1 minutes',
  checkRuns: 'every 60 minutes',
  deleteExpired: 'every 30 minutes',
};

function ableToBuild(): Google {
  const google = newProject();
  const member = `serviceAccount:${defaultAccount(google)}`;
  google.policy.bindings.push({ role: 'roles/cloudbuild.builds.builder', members: [member] });
  return google;
}

/** Each call of these kinds fails with 500, after as many as `skip`. */
function breakCalls(google: Google, broken: readonly { readonly call: string; readonly skip: number }[]) {
  google.broken = Object.fromEntries(broken.map(({ call, skip }) => [call, { skip, times: Infinity }]));
}

const jobsOf = ({ jobs }: Google) =>
  Object.fromEntries(
    Object.entries(jobs).map(([name, { schedule }]) => [name.split('firebase-schedule-')[1], schedule]),
  );

withFirebaseTools({ title: 'a deployment that fails anywhere', command: 'test:deploy' }, () => {
  const google = ableToBuild();
  const deployment = shipped(google);
  afterAll(() => deployment.close());

  const unchanged = { region: 'us-central1', places: 2_000, queues: 1, isEdited: false, schedule: null };
  /** Limits of a queue and a schedule that failed to change after their function had. */
  const EXAMPLES = [
    { ...unchanged, broken: [{ call: 'cloudtasks.queues.create', skip: 1 }] },
    { ...unchanged, places: 500, broken: [{ call: 'cloudtasks.queues.update', skip: 0 }] },
    { ...unchanged, schedule: 'every 5 minutes', broken: [{ call: 'cloudscheduler.jobs.update', skip: 2 }] },
  ];
  const changes = fc.record({
    region: fc.constantFrom('us-central1', 'us-east4'),
    places: fc.constantFrom(500, 1_000, 2_000),
    queues: fc.integer({ min: 1, max: 3 }),
    isEdited: fc.boolean(),
    /** An earlier version had other schedules. */
    schedule: fc.option(fc.constantFrom('every 5 minutes', 'every 2 hours')),
    broken: fc.uniqueArray(fc.record({ call: fc.constantFrom(...CALLS), skip: fc.nat(4) }), {
      selector: ({ call }) => call,
      minLength: 1,
      maxLength: 3,
    }),
  });

  test('is completed by the next, whatever both change', async () => {
    await fc.assert(
      fc.asyncProperty(changes, async ({ region, places, queues, isEdited, schedule, broken }) => {
        const env = { CAIRN_REGION: region, DRIVE_QUEUE_PLACES: places, DRIVE_QUEUES: queues };
        const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`);
        deployment.write('functions/.env.new-project', lines.join(''));
        if (isEdited || schedule !== null) change(deployment, 'functions');
        if (schedule !== null) for (const job of Object.values(google.jobs)) job.schedule = schedule;
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
        const wanted = Object.entries(SCHEDULES).map(([name, every]) => [`${name}-${region}`, every]);
        expect(jobsOf(google)).toMatchObject(Object.fromEntries(wanted));
      }),
      { numRuns: 6, examples: EXAMPLES.map((one) => [one]) },
    );
  });
});

withFirebaseTools({ title: 'the service account of functions', command: 'test:deploy' }, () => {
  let deployment: Deployment | undefined;
  afterEach(() => deployment?.close());

  test('is made again if a deployment whose functions all failed deleted it', async () => {
    const google = ableToBuild();
    deployment = plain(google, "region: 'us-central1', managedAccount: true");
    const calls = ['run.services.setIamPolicy', 'cloudtasks.queues.get', 'cloudscheduler.jobs.get'];
    breakCalls(
      google,
      calls.map((call) => ({ call, skip: 0 })),
    );
    const failed = await deployment.deploy(...DEPLOY);
    expect([failed.code, failed.output]).toEqual([2, expect.stringContaining('Cleaning up managed service')]);
    const { serviceAccountEmail: deleted } = fieldsOf(functionOf(google, 'cairn-drive')?.serviceConfig);
    expect(Object.keys(google.accounts)).not.toContain(deleted);
    google.broken = {};
    const { code, output } = await deployment.deploy(...DEPLOY);
    expect([code, output]).toEqual([0, expect.stringContaining(`${deleted} of deployed functions is gone`)]);
    expect(missingBindings(google)).toEqual([]);
  });

  test('calls the scheduled functions also if they had another account before', async () => {
    const google = ableToBuild();
    deployment = plain(google, "region: 'us-central1'");
    expect((await deployment.deploy(...DEPLOY)).code).toBe(0);
    plainFunctions(deployment, "region: 'us-central1', managedAccount: true");
    const { code, output } = await deployment.deploy(...DEPLOY);
    expect([code, output]).toEqual([0, expect.stringContaining('Deploy complete!')]);
    expect(missingBindings(google)).toEqual([]);
  });

  test('gets roles back that somebody took from it, and keeps those that somebody added', async () => {
    const google = ableToBuild();
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
    const google = ableToBuild();
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
  const FIREBASE = ['--project', 'new-project', '--non-interactive', '--force'];

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
      Object.keys(SCHEDULES).map((name) => `cairn-${name}`),
    ],
  ])('lets firebase deploy repeat a first deployment after functions were deleted: %s', async (...given) => {
    const [, calls, options, deleted] = given;
    const google = ableToBuild();
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
