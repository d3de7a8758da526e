import { afterAll, expect, test } from '@jest/globals';
import { withFirebaseTools } from '../emulators/with-firebase-tools.ts';
import { preparedProject } from './google/model.ts';
import { missingBindings } from './support/bindings.ts';
import { shipped } from './support/projects.ts';

const DEPLOY = ['--project', 'new-project', '--set-up', '--only', 'functions'];

/** The tests are steps of one project's life, in their order. */
withFirebaseTools(
  { title: 'npm run deploy after a deployment that failed halfway', command: 'test:deploy' },
  () => {
    const google = preparedProject();
    const deployment = shipped(google);
    afterAll(() => deployment.close());

    test('creates the queues, a job and the public access that the first one did not reach', async () => {
      const always = { skip: 0, times: Infinity };
      google.broken = { 'cloudtasks.queues.get': { ...always }, 'cloudscheduler.jobs.get': { ...always } };
      const failed = await deployment.deploy(...DEPLOY);
      expect([failed.code, failed.output]).toEqual([
        2,
        expect.stringContaining('Failed to upsert task queue'),
      ]);
      const api = Object.entries(google.services).find(([name]) => name.endsWith('/services/api'))?.[1];
      api?.policy.bindings.splice(0);
      expect(missingBindings(google)).toEqual(
        expect.arrayContaining([
          'there is no queue drive',
          'there is no job for recoverRuns',
          'api is not open to everybody',
        ]),
      );
      google.broken = {};
      const { code, output } = await deployment.deploy(...DEPLOY);
      expect([code, output]).toEqual([0, expect.stringContaining('Deploy complete!')]);
      expect(missingBindings(google)).toEqual([]);
      expect(output).toContain('cairn: drive lacks its queue, so it counts as changed');
      expect(google.unanswered).toEqual([]);
    });

    test('and the one after it skips what is complete', async () => {
      const { code, output } = await deployment.deploy(...DEPLOY);
      expect([code, output]).toEqual([0, expect.stringContaining('[cairn:drive(us-central1)] Skipped')]);
      expect(output).not.toContain('so it counts as changed');
    });
  },
);
