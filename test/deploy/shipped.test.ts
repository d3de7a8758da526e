import { afterAll, expect, test } from '@jest/globals';
import { withFirebaseTools } from '../emulators/with-firebase-tools.ts';
import { fieldsOf } from './google/masks.ts';
import { defaultAccount, emptyPolicy, type Fields, newProject } from './google/model.ts';
import { functionOf, missingBindings } from './support/bindings.ts';
import type { Ended } from './support/firebase.ts';
import { change, shipped } from './support/projects.ts';

const PROJECT = ['--project', 'new-project'];

/** The tests are steps of one project's life, in their order. */
withFirebaseTools(
  { title: 'npm run deploy of this repository, without a terminal', command: 'test:deploy' },
  () => {
    const google = newProject();
    const deployment = shipped(google);
    afterAll(() => deployment.close());
    const queue = `projects/new-project/locations/us-central1/queues/drive`;

    function expectDeployed({ code, output }: Ended): void {
      expect([code, output]).toEqual([0, expect.stringContaining('Deploy complete!')]);
      expect(google.unanswered).toEqual([]);
      expect(missingBindings(google)).toEqual([]);
    }

    /** Another function of the project, made of a deployed one. */
    function copy(of: string, id: string, labels?: Fields): string {
      const parent = 'projects/new-project/locations/us-central1';
      const found = functionOf(google, of) ?? {};
      const config = fieldsOf(found.serviceConfig);
      const service = `${parent}/services/${id}`;
      const name = `${parent}/functions/${id}`;
      const own = { name, serviceConfig: { ...config, service }, ...(labels && { labels }) };
      google.functions[name] = structuredClone({ ...found, ...own });
      google.services[service] = structuredClone(
        google.services[String(config.service)] ?? { policy: emptyPolicy(), spec: {} },
      );
      return name;
    }

    test('a new project is refused before anything is changed, with how to prepare it', async () => {
      google.apis = google.apis.filter((api) => api !== 'iam.googleapis.com');
      deployment.write('functions/.env.new-project', 'RUN_EVENTS_TOPIC=run-events\n');
      const { code, output } = await deployment.deploy(...PROJECT);
      expect([code, output]).toEqual([1, expect.stringContaining('Nothing was deployed.')]);
      expect(output).toContain('gcloud services enable iam.googleapis.com --project new-project');
      expect(output).toContain(
        `--member=serviceAccount:${defaultAccount(google)} --role=roles/cloudbuild.builds.builder`,
      );
      expect(output).toContain('gcloud pubsub topics create run-events --project new-project');
      expect(output).toContain('--set-up');
      expect([google.functions, google.databases, google.secrets]).toEqual([{}, {}, {}]);
    });

    test('--set-up creates what is missing, and callers have all they need', async () => {
      google.apis.push('iam.googleapis.com');
      expectDeployed(await deployment.deploy(...PROJECT, '--set-up'));
      expect(google.databases['projects/new-project/databases/(default)']).toMatchObject({
        locationId: 'us-central1',
      });
      expect(google.topics).toHaveProperty('projects/new-project/topics/run-events');
      expect(google.secrets.GITHUB_TOKEN?.versions).toEqual(['none']);
      for (const name of ['GITHUB_WEBHOOK_SECRET', 'SLACK_SIGNING_SECRET'])
        expect(google.secrets[name]?.versions).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
      expect(google.queues[queue]).toMatchObject({ state: 'RUNNING', retryConfig: { maxAttempts: 100 } });
      // Functions run as an account of their own, and the default one got nothing but the right to build.
      const { serviceAccountEmail } = fieldsOf(functionOf(google, 'drive')?.serviceConfig);
      expect(serviceAccountEmail).toMatch(/^firebase-fn-/);
      const roles = google.policy.bindings.flatMap(({ role, members }) =>
        members.includes(`serviceAccount:${defaultAccount(google)}`) ? [role] : [],
      );
      expect(roles).toContain('roles/cloudbuild.builds.builder');
    });

    test('a second deployment keeps every permission, a paused queue, and everything that is not its own', async () => {
      const indexes = Object.keys(google.indexes).length;
      google.queues[queue] = { ...google.queues[queue], state: 'PAUSED' };
      google.indexes['projects/new-project/databases/(default)/collectionGroups/posts/indexes/theirs'] = {
        name: 'projects/new-project/databases/(default)/collectionGroups/posts/indexes/theirs',
        queryScope: 'COLLECTION',
        fields: [{ fieldPath: 'by', order: 'ASCENDING' }],
      };
      const theirs = copy('api', 'orders', { 'deployment-tool': 'cli-firebase' });
      deployment.write('functions/.env.new-project', 'SLACK_MIN_INSTANCES=1\nPUBLIC_MAX_INSTANCES=7\n');
      change(deployment, 'functions');
      const ended = await deployment.deploy(...PROJECT);
      expectDeployed(ended);
      expect(ended.output).toContain('functions[cairn:drive(us-central1)] Successful update operation');
      expect(google.queues[queue]).toMatchObject({ state: 'PAUSED' });
      expect(ended.output).toContain('the queue drive is paused, and stays so');
      expect(Object.keys(google.indexes)).toHaveLength(indexes + 1);
      expect(google.functions[theirs]).toBeDefined();
      const sizes = (id: string) => functionOf(google, id)?.serviceConfig;
      expect(sizes('slackWebhook')).toMatchObject({ minInstanceCount: 1, maxInstanceCount: 7 });
      expect(sizes('api')).toMatchObject({ availableMemory: '1024Mi', maxInstanceCount: 7 });
      expect(sizes('drive')).toMatchObject({ maxInstanceRequestConcurrency: 80, timeoutSeconds: 540 });
    });

    test('functions that were removed from the sources are deleted only on request', async () => {
      const old = copy('pubsub-cloudBuilds', 'pubsub-old');
      change(deployment, 'functions');
      const refused = await deployment.deploy(...PROJECT, '--only', 'functions');
      expect(refused.code).not.toBe(0);
      expect(refused.output).toContain('--delete-functions');
      expect(google.functions[old]).toBeDefined();
      const done = await deployment.deploy(...PROJECT, '--only', 'functions', '--delete-functions');
      expect([done.code, done.output]).toEqual([0, expect.stringContaining('Deploy complete!')]);
      expect(google.functions[old]).toBeUndefined();
    });

    test('a deleted job is created again by deploying its function alone', async () => {
      const job = 'projects/new-project/locations/us-central1/jobs/firebase-schedule-recoverRuns-us-central1';
      expect(google.jobs[job]).toBeDefined();
      delete google.jobs[job];
      expectDeployed(await deployment.deploy(...PROJECT, '--only', 'functions:cairn:recoverRuns'));
      expect(google.jobs[job]).toMatchObject({ schedule: 'every 1 minutes' });
    });

    test('more queues are created like that of the function, keep their state, and are kept when fewer are wanted', async () => {
      const nth = (at: number) => `${queue}-${at}`;
      deployment.write('functions/.env.new-project', 'DRIVE_QUEUES=3\n');
      change(deployment, 'functions');
      expectDeployed(await deployment.deploy(...PROJECT, '--only', 'functions'));
      const { rateLimits, retryConfig } = google.queues[queue] ?? {};
      expect(rateLimits).toEqual({ maxConcurrentDispatches: 2_000, maxDispatchesPerSecond: 500 });
      expect(google.queues[nth(2)]).toMatchObject({ state: 'RUNNING', rateLimits, retryConfig });
      google.queues[nth(3)] = { ...google.queues[nth(3)], state: 'PAUSED', rateLimits: {} };
      deployment.write('functions/.env.new-project', 'DRIVE_QUEUES=2\n');
      change(deployment, 'functions');
      expectDeployed(await deployment.deploy(...PROJECT, '--only', 'functions'));
      expect(google.queues[nth(3)]).toMatchObject({ state: 'PAUSED', rateLimits: {} });
      deployment.write('functions/.env.new-project', 'DRIVE_QUEUES=4\n');
      change(deployment, 'functions');
      expectDeployed(await deployment.deploy(...PROJECT, '--only', 'functions'));
      expect(google.queues[nth(3)]).toMatchObject({ state: 'PAUSED', rateLimits, retryConfig });
      expect(google.queues[nth(4)]).toMatchObject({ state: 'RUNNING', rateLimits, retryConfig });
      expect(google.queues[`${queue}Alone-2`]).toBeUndefined();
    });

    test('an invalid number of queues or shards is refused before anything is deployed', async () => {
      deployment.write('functions/.env.new-project', 'DRIVE_QUEUES=1000\n');
      const { code, output } = await deployment.deploy(...PROJECT);
      expect([code, output]).toEqual([1, expect.stringContaining('DRIVE_QUEUES is 1000')]);
      expect(google.queues[`${queue}-1000`]).toBeUndefined();
      deployment.write('functions/.env.new-project', 'RUN_SHARDS=8\n');
      const shards = await deployment.deploy(...PROJECT);
      expect([shards.code, shards.output]).toEqual([
        1,
        expect.stringContaining('RUN_SHARDS is 8; it is a whole number from 16 to 256.'),
      ]);
    });

    test('functions move to another region by a parameter', async () => {
      deployment.write('functions/.env.new-project', 'CAIRN_REGION=us-east4\n');
      expectDeployed(await deployment.deploy(...PROJECT, '--only', 'functions', '--delete-functions'));
      const own = Object.keys(google.functions).filter((name) => !name.endsWith('/orders'));
      expect(own.filter((name) => !name.includes('/us-east4/'))).toEqual([]);
      expect(google.queues['projects/new-project/locations/us-east4/queues/drive']).toMatchObject({
        state: 'RUNNING',
      });
    });
  },
);
