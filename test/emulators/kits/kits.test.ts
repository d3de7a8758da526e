import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { functionsAt } from '../../../packages/local/src/emulators/discovery.ts';
import {
  type FirebaseTools,
  startFirebaseTools,
} from '../../../packages/local/src/emulators/firebase-tools.ts';
import { freePorts } from '../../../packages/local/src/emulators/free-ports.ts';
import { ROLES, ROOT } from '../manifest-of.ts';
import { withFirebaseTools } from '../with-firebase-tools.ts';
import { type Build, KitProject, PROJECT_ID } from './project.ts';
import { type Listening, listen, Services } from './services.ts';

const SET_UP_MS = 600_000;
const TEST_MS = 300_000;
const REGION = 'us-central1';

/** Functions of every installation. `drive` and `driveAlone` run bodies. */
const MEMBERS = ['api', 'checkRuns', 'deleteExpired', 'drive', 'driveAlone', 'fireSchedules', 'recoverRuns'];

withFirebaseTools({ title: 'a project with Cairn and a kit', command: 'test:emulators' }, () => {
  let google: Listening | undefined;
  let project: KitProject;
  /** By instance, what firebase-tools said of its installation. */
  const reports: string[] = [];
  /** Instances of the kit `calls`. */
  let first: string;
  let second: string;

  beforeAll(async () => {
    google = await listen((_request, response) => {
      response.end(JSON.stringify({ access_token: 'stand-in', expires_in: 3_600 }));
    });
    project = new KitProject(google.url);
    await project.adopt();
    project.writeTypescriptKit('kits/calls');
    project.writeDocumentedKit('kits/documented');
    for (const folder of ['kits/calls', 'kits/calls', 'kits/documented'])
      reports.push(await project.installKit(folder));
    [first = '', second = ''] = project.instancesOf('calls');
  }, SET_UP_MS);
  afterAll(async () => {
    await google?.stop();
    project?.dispose();
  }, SET_UP_MS);

  test('the second installation is another instance, and each is shown what its first deployment creates', () => {
    expect(first).toBe('calls');
    expect(second).toMatch(/^calls-[0-9a-f]{4}$/);
    for (const [at, instance] of [first, second].entries()) {
      expect(namesAfter(reports[at], 'functions')).toEqual(MEMBERS.map((name) => `kit-${instance}-${name}`));
      expect(namesAfter(reports[at], 'Task Queues')).toEqual([
        `kit-${instance}-drive`,
        `kit-${instance}-driveAlone`,
      ]);
      expect(namesAfter(reports[at], 'APIs')).toEqual([
        'cloudscheduler.googleapis.com',
        'cloudtasks.googleapis.com',
      ]);
      expect(namesAfter(reports[at], 'roles')).toHaveLength(ROLES.length);
    }
  });

  test(
    'firebase-tools discovers the app, two codebases and each instance, with names, secrets and roles of their own',
    async () => {
      const builds = await project.discover();
      expect(Object.keys(builds)).toEqual(['default', 'cairn', first, second, 'documented']);
      expect(secretsOf(builds.default)).toEqual({ orders: ['STRIPE_KEY'] });
      expect(builds.default?.requiredRoles).toBeUndefined();
      expect(secretsOf(builds.cairn)).toEqual(
        Object.fromEntries(MEMBERS.map((name) => [`cairn-${name}`, []])),
      );
      // A parameter says if run events are published.
      expect(rolesOf(builds.cairn)).toEqual([...ROLES, 'roles/pubsub.publisher'].sort());
      for (const instance of [first, second, 'documented']) {
        const secret = `kit-${instance}-CALL_TOKEN`;
        expect(secretsOf(builds[instance])).toEqual(
          Object.fromEntries(
            MEMBERS.map((name) => [`kit-${instance}-${name}`, name.startsWith('drive') ? [secret] : []]),
          ),
        );
        expect(rolesOf(builds[instance])).toEqual(ROLES);
      }
    },
    TEST_MS,
  );

  describe('on the functions emulator of firebase-tools', () => {
    let services: Services | undefined;
    let tools: FirebaseTools | undefined;
    let log = '';
    let functions: string;

    beforeAll(async () => {
      services = await Services.start();
      const [port = 0, hub = 0, logging = 0, tasks = 0, eventarc = 0] = await freePorts(5);
      const ports = { functions: port, hub, logging, tasks, eventarc };
      const emulators = Object.entries(ports).map(([name, one]) => [name, { host: '127.0.0.1', port: one }]);
      const config = JSON.parse(project.read('firebase.json')) as object;
      project.write(
        'firebase.json',
        JSON.stringify({
          ...config,
          emulators: { ...Object.fromEntries(emulators), ui: { enabled: false } },
        }),
      );
      const usual = {
        FUNCTION_DEFAULT_REGION: REGION,
        CALL_IN_DOUBT: 'ask',
        CALL_APPROVAL: 'never',
        FIRESTORE_DATABASE: '(default)',
        RETENTION_DAYS: '7',
      };
      const target = (name: string) => ({ CALL_TARGET_URL: `${services?.receiver.url}/${name}` });
      project.configure('calls', first, { ...usual, ...target('first') });
      project.configure('calls', second, { ...usual, ...target('second'), CALL_APPROVAL: 'always' });
      project.configure('documented', 'documented', { ...usual, ...target('documented') });
      project.write('kits/calls/.secret.local', 'CALL_TOKEN=of-the-receiver\n');
      project.write('kits/documented/.secret.local', 'CALL_TOKEN=none\n');
      project.write('functions/.secret.local', 'STRIPE_KEY=none\n');
      functions = `http://127.0.0.1:${port}/${PROJECT_ID}/${REGION}`;
      const output = new PassThrough();
      output.on('data', (chunk) => {
        log += chunk;
      });
      tools = startFirebaseTools({
        root: ROOT,
        folder: project.root,
        projectId: PROJECT_ID,
        only: 'functions',
        env: {
          ...process.env,
          FIRESTORE_EMULATOR_HOST: services.firestore.host,
          CAIRN_TASKS_HOST: services.tasks.host,
          CAIRN_FUNCTIONS_URL: functions,
          CAIRN_LOCAL: '1',
          METADATA_SERVER_DETECTION: 'none',
        },
        output,
      });
      await tools.ready.catch((cause) => {
        throw new Error(log, { cause });
      });
      const names = (await functionsAt(`http://127.0.0.1:${port}`)).map(({ name }) => name);
      for (const name of names.filter((one) => /-drive(?:Alone)?$/.test(one)))
        services.makeQueue(PROJECT_ID, name);
    }, SET_UP_MS);
    afterAll(async () => {
      await tools?.stop();
      await services?.stop();
    }, SET_UP_MS);

    const ready = () => {
      if (!services) throw new Error('the services did not start');
      return services;
    };

    async function installation(api: string, place: { database: string; collectionPrefix: string }) {
      const key = await ready().makeKey(PROJECT_ID, place);
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const call = async (path: string, json?: object) => {
        const sent =
          json === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(json) };
        const answer = await fetch(`${functions}/${api}${path}`, sent);
        return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
      };
      const until = async (runId: string, status: string) => {
        for (let looks = 0; looks < TEST_MS / 100; looks += 1) {
          const { body } = await call(`/v1/runs/${runId}`);
          if (body.status === status) return body;
          if (body.status === 'failed') throw new Error(`${JSON.stringify(body)}\n${log}`);
          await delay(100);
        }
        throw new Error(`waited in vain for ${runId} to be ${status}\n${log}`);
      };
      const start = async (type: string, input: object) => {
        const { status, body } = await call('/v1/runs', { type, input });
        if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}\n${log}`);
        return String(body.runId);
      };
      return { call, until, start };
    }

    const prefixOf = (instance: string) => `kit_${instance.replaceAll('-', '_')}_`;
    const instanceOf = (instance: string) =>
      installation(`kit-${instance}-api`, {
        database: '(default)',
        collectionPrefix: prefixOf(instance),
      });

    test(
      'a run of the own codebase completes',
      async () => {
        const own = await installation('cairn-api', { database: 'cairn', collectionPrefix: 'cairn_' });
        const runId = await own.start('order', { orderId: 'o-1', amountCents: 500 });
        expect(await own.until(runId, 'completed')).toMatchObject({
          result: { ship: { shipped: 'stock-o-1' } },
        });
      },
      TEST_MS,
    );

    test(
      'a run of each instance of the kit completes under its own parameters, and the other has no run of it',
      async () => {
        const one = await instanceOf(first);
        const two = await instanceOf(second);
        const call = { method: 'PUT', path: '/orders/7', body: { cents: 500 } };
        const free = await one.start('http-call', call);
        const started = await two.start('http-call', { path: '/orders' });
        expect(await one.until(free, 'completed')).toMatchObject({
          result: { answer: { status: 200, body: { nth: 1 }, truncated: false } },
        });
        await two.until(started, 'awaiting_approval');
        expect(ready().received.map(({ path }) => path)).toEqual(['/first/orders/7']);

        const decided = await two.call(`/v1/runs/${started}/approvals/approve`, { decision: 'approve' });
        expect(decided).toMatchObject({ status: 200 });
        await two.until(started, 'completed');
        expect(ready().received).toMatchObject([
          {
            path: '/first/orders/7',
            body: '{"cents":500}',
            headers: { authorization: 'Bearer of-the-receiver' },
          },
          { path: '/second/orders', body: '', headers: { authorization: 'Bearer of-the-receiver' } },
        ]);
        expect((await one.call(`/v1/runs/${started}`)).status).toBe(404);
        expect((await two.call(`/v1/runs/${free}`)).status).toBe(404);
      },
      TEST_MS,
    );

    test(
      'an instance serves the console',
      async () => {
        const answer = await fetch(`${functions}/kit-${first}-api/`);
        expect(answer.headers.get('content-type')).toContain('text/html');
        expect(await answer.text()).toContain('<div id="');
      },
      TEST_MS,
    );
  });
});

/** The names below a heading of the report, without the colours. */
function namesAfter(report: string | undefined, heading: string): string[] {
  const [, list = ''] =
    new RegExp(`the following ${heading} will[^\\n]*\\n((?:- [^\\n]*\\n)*)`).exec(report ?? '') ?? [];
  return list
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.slice(2))
    .sort();
}

function secretsOf(build: Build | undefined): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(build?.endpoints ?? {}).map(([name, { secretEnvironmentVariables = [] }]) => [
      name,
      secretEnvironmentVariables.map(({ secret }) => secret),
    ]),
  );
}

const rolesOf = (build: Build | undefined) => [...(build?.requiredRoles ?? [])].sort();
