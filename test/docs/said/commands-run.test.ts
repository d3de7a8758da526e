import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { wordsOf } from '../../cli/support/said-in-docs.ts';
import { Stage } from '../../cli/support/stage.ts';
import { requestOf } from '../commands.ts';
import { shownCommands } from './shown.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** The test that runs a command, or the reason why none can. `here`: below, against an installation in memory. */
type Row = readonly [command: RegExp, run: { readonly by: string } | { readonly cannot: string } | 'here'];

const GOOGLE = { cannot: "it changes a project of Google's cloud, with its command line" };
const FIREBASE = { cannot: 'it is of firebase-tools, against a project of Google' };

/** The first row that fits counts. */
const ROWS: readonly Row[] = [
  [/^npm start -- --functions/, { by: 'test/local/start' }],
  [/^npm start$/, { by: 'test/local/start' }],
  [/^npm test -- test\/workflows\/invite-team/, { by: 'test/docs/writing/first-workflow.test.ts' }],
  [/^npm test$/, { cannot: 'it is the run that this test is part of' }],
  [/^CONSOLE_SCREENSHOTS=\S+ npm test/, { by: 'test/console/every-page.test.ts' }],
  [/^npm run help$/, { by: 'test/scripts/commands.test.ts' }],
  [/^npm run types$/, { cannot: 'npm run check, which each change passes, does the same' }],
  [/^npm run console:dev$/, { cannot: "it is Vite's server for who edits the console" }],
  [/^npm run simulate/, { by: 'test/docs/simulated.test.ts' }],
  [/^npm run emulators/, { by: 'test/emulators/main-job.test.ts' }],
  [/^npm run test:emulators$/, { cannot: 'it runs test/emulators' }],
  [/^npm run deploy:install$/, { cannot: 'it is npm ci of the functions, with the network' }],
  [/^npm run deploy -- /, { by: 'test/deploy/shipped.test.ts' }],
  [/^npm run firebase -- /, FIREBASE],
  [/^npm install --save-dev .*build\/packages/, { by: 'scripts/adopt/main.ts' }],
  [/^npm --prefix function-kits/, { by: 'test/emulators/kit-manifest.test.ts' }],
  [/^npx cairn init$/, { by: 'test/cli/init' }],
  [/^npx cairn dev$/, { by: 'test/local/dev' }],
  [/^npx cairn indexes/, 'here'],
  [/^npx @cairn\/local-/, { by: 'test/local/alone.test.ts' }],
  [/^gcloud auth print-access-token/, GOOGLE],
  [/^npm run cairn -- clients first/, { by: 'test/cli/first-client.test.ts' }],
  [/^npm run cairn -- /, 'here'],
  [/^cairn\(\)/, { cannot: 'it defines a function of the shell' }],
  [/^cairn /, 'here'],
  [/identitytoolkit\.googleapis\.com/, GOOGLE],
  [/\$CONTROL\/clock/, { by: 'test/local/control.test.ts' }],
  [/^curl .*webhooks\/slack/, { by: 'test/docs/slack.test.ts' }],
  [/^curl /, 'here'],
  [/^RUN=\$\(npm run --silent cairn -- /, 'here'],
  [/^(?:gcloud|firebase) /, GOOGLE],
  [/^export CAIRN_URL="\$\(gcloud/, GOOGLE],
  [/^(?:gh|jq) /, { by: 'test/docs/workflows.test.ts' }],
  [/^(?:for|do|done|rm|export)\b/, { cannot: 'it is of the shell' }],
  [/^(?:NOW|BODY|SIGNATURE)=/, { by: 'test/docs/slack.test.ts' }],
  [/^[A-Z_]+=\S+$/, { cannot: 'it sets a variable' }],
];

const shown = shownCommands();
const rowOf = (command: string) => ROWS.find(([pattern]) => pattern.test(command));

test('every command that a document shows is run by a test, or it is said why it cannot be', () => {
  expect(shown.length).toBeGreaterThan(150);
  expect(shown.filter(({ command }) => !rowOf(command))).toEqual([]);
  const used = new Set(shown.map(({ command }) => rowOf(command)));
  expect(ROWS.filter((row) => !used.has(row)).map(([pattern]) => String(pattern))).toEqual([]);
});

test('the tests that are named exist', () => {
  const named = ROWS.flatMap(([, run]) => (run !== 'here' && 'by' in run ? [run.by] : []));
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

/** Workflows that the documents start or ask about; each run ends at once. */
const instant = (type: string) =>
  defineWorkflow({
    type,
    planVersion: 1,
    input: z.unknown(),
    steps: (step) => ({ done: step('charge', ({ log }) => log('done')) }),
  });
const asking = defineWorkflow({
  type: 'asking',
  planVersion: 1,
  input: z.unknown(),
  steps: (step) => ({ agreed: step.approval('agree', { ask: () => 'Agree?' }) }),
});
const TYPES = ['order', 'deploy', 'review-pull-request', 'invite-team', 'http-call'];

const DAY_MS = 86_400_000;
const here = shown.filter(({ command }) => rowOf(command)?.[1] === 'here');

describe('run against an installation in memory', () => {
  let stage: Stage;
  let runId: string;
  beforeAll(async () => {
    stage = new Stage([...TYPES.map(instant), asking]);
    // Times in the documents have passed.
    stage.installation.world.clock.jump(60 * DAY_MS);
    runId = (await stage.cairn(['runs', 'start', 'asking'])).out.trim();
    // `last` is one that has ended: nothing that follows it waits for ever.
    stage.installation.world.clock.jump(1_000);
    await stage.cairn(['runs', 'start', 'order']);
    await stage.drive();
  });

  const filled = (text: string) =>
    text
      .replaceAll(/\$RUN\b|\bRUN\b/g, runId)
      .replaceAll(/\/runs\/ID\//g, `/runs/${runId}/`)
      .replaceAll(/\b(?:lwdzb7|4xsyom)\b/g, runId.slice(4, 10))
      .replaceAll(/\$EFFECT\b|\bEFFECT\b/g, `${'0a'.repeat(32)}.0001`)
      .replaceAll('$ID', 'none');

  const lines = here.filter(({ command }) => !command.startsWith('curl'));
  /** Done, refused for a reason of the run, not found, cancelled, and a problem found by who looks for some. */
  const UNDERSTOOD = [0, 1, 3, 6, 7];

  test.each(lines)('$document: $command', async ({ command }) => {
    const [, said = ''] =
      /(?:npm run (?:--silent )?cairn -- |npx cairn |^cairn )([^)]*)/.exec(filled(command)) ?? [];
    const words = wordsOf(said).filter((word) => !['--url', '--key-file'].includes(word));
    const addressed = words.filter((word) => !/^(?:https:\/\/staging|~\/\.config)/.test(word));
    const files = new Proxy({}, { get: () => '{}' }) as Record<string, string>;
    const { code, err } = await stage.cairn(addressed, {
      files,
      answer: 'yes',
      fetch: async (target: string, init: RequestInit) => {
        const answer = await stage.fetch(target, init);
        if (init.method === 'POST') await stage.drive();
        return answer;
      },
    });
    expect([err, UNDERSTOOD.includes(code)]).toEqual([err, true]);
    expect(err).not.toMatch(/INVALID_INPUT|INTERNAL/);
  });

  const requests = here.filter(({ command }) => command.startsWith('curl'));

  test.each(requests)('$document: $command', async ({ command }) => {
    const key = await stage.installation.key('docs', { tenantId: 't1', roles: ['installation'] });
    const text = filled(command).replaceAll('$CAIRN_URL', '$URL').replaceAll('$CAIRN_API_KEY', '$KEY');
    const request = requestOf(text.replaceAll(/-H '([^']*)'/g, '-H "$1"'), key);
    const answer = await stage.installation.api.request(request);
    const body = answer.headers.get('content-type')?.includes('event-stream') ? '' : await answer.text();
    await answer.body?.cancel().catch(() => {});
    expect([answer.status, body]).toEqual([
      expect.any(Number),
      expect.not.stringMatching(/ROUTE_NOT_FOUND|METHOD_NOT_ALLOWED|UNAUTHENTICATED|FORBIDDEN|INVALID_INPUT/),
    ]);
    expect(answer.status).toBeLessThan(500);
  });
});
