import { afterEach, expect, test } from '@jest/globals';
import { withFirebaseTools } from '../emulators/with-firebase-tools.ts';
import { type Binding, defaultAccount, emptyPolicy, type Google, newProject } from './google/model.ts';
import { functionOf, invokerPolicy, missingBindings } from './support/bindings.ts';
import type { Deployment } from './support/firebase.ts';
import { adopted, change, plain, withKit } from './support/projects.ts';

const COMMAND = ['deploy', '--project', 'new-project', '--non-interactive', '--force'];

function give(google: Google, role: string): void {
  const binding: Binding = { role, members: [`serviceAccount:${defaultAccount(google)}`] };
  google.policy.bindings.push(binding);
}

function ableToBuild(): Google {
  const google = newProject();
  give(google, 'roles/cloudbuild.builds.builder');
  return google;
}

withFirebaseTools(
  { title: 'firebase deploy of a codebase or kit with Cairn, without a terminal', command: 'test:deploy' },
  () => {
    let deployment: Deployment | undefined;
    afterEach(() => deployment?.close());

    test('the codebase of cairn init is deployed twice without questions, and needs no role granted by hand', async () => {
      const google = ableToBuild();
      deployment = await adopted(google);
      const created = [
        'firestore:databases:create',
        'cairn',
        '--location',
        'us-central1',
        '--project',
        'new-project',
      ];
      expect((await deployment.firebase(...created)).code).toBe(0);
      for (const deployed of ['create', 'update']) {
        change(deployment, 'cairn');
        const { code, output } = await deployment.firebase(
          ...COMMAND,
          '--only',
          'functions:cairn,firestore:cairn',
        );
        expect([code, output]).toEqual([0, expect.stringContaining(`Successful ${deployed} operation`)]);
        expect(google.unanswered).toEqual([]);
        expect(missingBindings(google)).toEqual([]);
      }
      expect(functionOf(google, 'cairn-drive')).toBeDefined();
    });

    test('an instance of the kit is deployed twice, and needs no permission granted by hand', async () => {
      const google = ableToBuild();
      google.secrets['kit-calls-CALL_TOKEN'] = { labels: {}, versions: ['none'], policy: emptyPolicy() };
      deployment = withKit(google);
      for (const deployed of ['create', 'update']) {
        change(deployment, 'kits/calls');
        const { code, output } = await deployment.firebase(...COMMAND, '--only', 'functions:calls');
        expect([code, output]).toEqual([0, expect.stringContaining(`Successful ${deployed} operation`)]);
        expect(google.unanswered).toEqual([]);
        expect(missingBindings(google)).toEqual([]);
      }
      expect(functionOf(google, 'kit-calls-drive')).toBeDefined();
    });

    test('permissions that an operator granted are kept by the next deployment', async () => {
      const google = ableToBuild();
      for (const role of ['roles/cloudtasks.enqueuer', 'roles/iam.serviceAccountUser']) give(google, role);
      deployment = plain(google, "region: 'us-central1'");
      const deploy = async () => {
        const { code, output } = (await deployment?.firebase(...COMMAND)) ?? {};
        expect([code, output]).toEqual([0, expect.stringContaining('Deploy complete!')]);
      };
      await deploy();
      for (const id of ['cairn-drive', 'cairn-driveAlone']) {
        const policy = invokerPolicy(google, functionOf(google, id) ?? {});
        policy?.bindings.push({
          role: 'roles/run.invoker',
          members: [`serviceAccount:${defaultAccount(google)}`],
        });
      }
      expect(missingBindings(google)).toEqual([]);
      change(deployment, 'functions');
      await deploy();
      expect(missingBindings(google)).toEqual([]);
    });
  },
);
