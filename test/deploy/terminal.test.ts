import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { withFirebaseTools } from '../emulators/with-firebase-tools.ts';
import { preparedProject } from './google/model.ts';
import { functionOf, missingBindings } from './support/bindings.ts';
import { change, shipped } from './support/projects.ts';
import { KEYS, terminalMissing } from './support/terminal.ts';

const TITLE = 'npm run deploy of this repository, in a terminal';
const FUNCTIONS = ['--project', 'new-project', '--only', 'functions'];

const missing = terminalMissing();
if (missing === undefined) withFirebaseTools({ title: TITLE, command: 'test:deploy' }, answered);
else {
  const absent = `${TITLE}: NOT RUN, for ${missing}`;
  process.stderr.write(`${absent}\n`);
  // The terminal is that of `script` (util-linux), which other systems lack or have with other options. The title and standard error
  // say that nothing was run.
  describe.skip(absent, answered);
}

/** The tests are steps of one project's life, in their order. */
function answered() {
  const google = preparedProject();
  const deployment = shipped(google);
  afterAll(() => deployment.close());
  const valuesOf = (secret: string) => google.secrets[secret]?.versions;

  test('an empty secret is asked for again, and Ctrl-C at the next one leaves none without a value', async () => {
    const terminal = await deployment.deployInTerminal(...FUNCTIONS);
    await terminal.shows('Enter a value for GITHUB_TOKEN:');
    terminal.press(KEYS.enter);
    await terminal.shows('Secrets cannot have an empty value.');
    terminal.press(`token${KEYS.enter}`);
    await terminal.shows('Enter a value for GITHUB_WEBHOOK_SECRET:');
    terminal.press(`half${KEYS.interrupt}`);
    const { code, output } = await terminal.end();
    expect([code, output]).toEqual([1, expect.stringContaining('Interrupted.')]);
    expect(output).not.toContain('unexpected error');
    expect(Object.keys(google.secrets)).toEqual(['GITHUB_TOKEN']);
    expect(valuesOf('GITHUB_TOKEN')).toEqual(['token']);
    expect([google.functions, google.queues, google.jobs]).toEqual([{}, {}, {}]);
    expect(existsSync(join(deployment.folder, 'functions/.env.new-project'))).toBe(false);
  });

  test('the next deployment asks for the rest, and a no to the roles of the functions deploys nothing', async () => {
    const terminal = await deployment.deployInTerminal(...FUNCTIONS);
    for (const name of ['GITHUB_WEBHOOK_SECRET', 'SLACK_SIGNING_SECRET']) {
      await terminal.shows(`Enter a value for ${name}:`);
      terminal.press(`${name.toLowerCase()}${KEYS.enter}`);
    }
    await terminal.shows('Would you like to proceed with deployment?');
    terminal.press(`y${KEYS.enter}`);
    await terminal.shows('Continue? (y/N)');
    // An answer that is neither yes nor no counts as the default.
    terminal.press(`perhaps${KEYS.enter}`);
    const { code, output } = await terminal.end();
    expect([code, output]).toEqual([1, expect.stringContaining('Deployment canceled by user.')]);
    expect(output).not.toContain('Enter a value for GITHUB_TOKEN');
    expect(valuesOf('GITHUB_WEBHOOK_SECRET')).toEqual(['github_webhook_secret']);
    expect(valuesOf('SLACK_SIGNING_SECRET')).toEqual(['slack_signing_secret']);
    expect([google.functions, google.queues, google.jobs]).toEqual([{}, {}, {}]);
  });

  test('yes deploys, and a wrong number of days is asked for again', async () => {
    const terminal = await deployment.deployInTerminal(...FUNCTIONS);
    await terminal.shows('Would you like to proceed with deployment?');
    terminal.press(`y${KEYS.enter}`);
    await terminal.shows('Continue? (y/N)');
    terminal.press(`y${KEYS.enter}`);
    await terminal.shows('How many days do you want to keep container images');
    terminal.press(`-3${KEYS.enter}`);
    await terminal.shows('Please enter a non-negative number');
    terminal.press(`${KEYS.eraseLine}7${KEYS.enter}`);
    const { code, output } = await terminal.end();
    expect([code, output]).toEqual([0, expect.stringContaining('Deploy complete!')]);
    expect(google.unanswered).toEqual([]);
    expect(missingBindings(google)).toEqual([]);
    expect(JSON.stringify(google.repositories)).toContain(`"olderThan":"${7 * 86_400}s"`);
  });

  test('a function that was removed from the sources is kept by no, and deleted by yes', async () => {
    const old = 'projects/new-project/locations/us-central1/functions/pubsub-old';
    const found = functionOf(google, 'pubsub-cloudBuilds');
    google.functions[old] = structuredClone({ ...found, name: old });
    change(deployment, 'functions');
    const kept = await deployment.deployInTerminal(...FUNCTIONS);
    await kept.shows('Would you like to proceed with deletion?');
    kept.press(`n${KEYS.enter}`);
    expect(await kept.end()).toMatchObject({ code: 0 });
    expect(google.functions[old]).toBeDefined();
    change(deployment, 'functions');
    const deleted = await deployment.deployInTerminal(...FUNCTIONS);
    await deleted.shows('Would you like to proceed with deletion?');
    deleted.press(`y${KEYS.enter}`);
    expect(await deleted.end()).toMatchObject({ code: 0 });
    expect(google.functions[old]).toBeUndefined();
  });
}
