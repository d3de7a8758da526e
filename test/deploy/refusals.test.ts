import { afterEach, expect, test } from '@jest/globals';
import { RIGHTS } from '../../scripts/deploy/preflight.ts';
import { withFirebaseTools } from '../emulators/with-firebase-tools.ts';
import { newProject, preparedProject } from './google/model.ts';
import type { Deployment } from './support/firebase.ts';
import { shipped } from './support/projects.ts';

const PROJECT = ['--project', 'new-project'];
/** Calls by POST that only ask. */
const ASKS = /:(?:testIamPermissions|getIamPolicy)$/;

withFirebaseTools(
  { title: 'npm run deploy refuses before anything is changed', command: 'test:deploy' },
  () => {
    let deployment: Deployment | undefined;
    afterEach(() => deployment?.close());

    const changesOf = ({ google }: Deployment) =>
      google.calls.filter(({ method, path }) => method !== 'GET' && !ASKS.test(path));

    test('a missing permission is named with the role that includes it', async () => {
      const google = newProject();
      google.denied = RIGHTS.map(({ permission }) => permission);
      deployment = shipped(google);
      const { code, output } = await deployment.deploy(...PROJECT, '--set-up');
      expect(code).toBe(1);
      for (const { permission, role } of RIGHTS) {
        expect(output).toContain(permission);
        expect(output).toContain(`--role=${role} `);
      }
      expect(changesOf(deployment)).toEqual([]);
    });

    test('a permission that firebase-tools would miss only after it has created functions is reported before', async () => {
      const google = newProject();
      google.denied = ['run.services.setIamPolicy'];
      deployment = shipped(google);
      const { code, output } = await deployment.deploy(...PROJECT, '--set-up');
      expect([code, output]).toEqual([1, expect.stringContaining('--role=roles/run.admin')]);
      expect(changesOf(deployment)).toEqual([]);
    });

    test.each([
      ['in Datastore mode', [], 'DATASTORE_MODE', undefined, 'The database (default) is in Datastore mode'],
      [
        'that is missing and not created, because the target firestore is left out',
        ['--only', 'functions'],
        undefined,
        undefined,
        'The database (default), in which the functions store runs, does not exist',
      ],
      [
        'that is missing and not created, because firebase.json does not have it',
        [],
        'FIRESTORE_NATIVE',
        'runs',
        "gcloud firestore databases create --database='runs'",
      ],
    ])('a database %s is reported', async (_, words, type, database, message) => {
      const google = preparedProject();
      const name = 'projects/new-project/databases/(default)';
      google.databases = type ? { [name]: { ...google.databases[name], type } } : {};
      deployment = shipped(google);
      if (database) deployment.write('functions/.env.new-project', `FIRESTORE_DATABASE=${database}\n`);
      const { code, output } = await deployment.deploy(...PROJECT, '--set-up', ...words);
      expect([code, output]).toEqual([1, expect.stringContaining(message)]);
      expect(changesOf(deployment)).toEqual([]);
    });

    test('a project on the free plan is refused with the page for the upgrade', async () => {
      deployment = shipped({ ...newProject(), billing: false });
      const { code, output } = await deployment.deploy(...PROJECT, '--set-up');
      expect([code, output]).toEqual([1, expect.stringContaining('/project/new-project/usage/details')]);
      expect(changesOf(deployment)).toEqual([]);
    });

    test('without a login the command to log in is named, with a terminal and without', async () => {
      deployment = shipped(newProject(), false);
      const { code, output } = await deployment.deploy(...PROJECT);
      expect([code, output]).toEqual([3, expect.stringContaining('npm run firebase -- login')]);
      expect(output).toContain('GOOGLE_APPLICATION_CREDENTIALS');
      expect(deployment.google.calls).toEqual([]);
    });

    test('an alias is resolved, and a project that is not visible is named', async () => {
      const google = newProject();
      google.denied = ['firebase.projects.get'];
      deployment = shipped(google);
      deployment.write('.firebaserc', '{"projects":{"production":"other-project"}}');
      const { code, output } = await deployment.deploy('--project', 'production');
      expect([code, output]).toEqual([1, expect.stringContaining("'other-project'")]);
    });
  },
);
