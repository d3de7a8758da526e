import { expect, test } from '@jest/globals';
import { PROBLEM_CODES } from '../../packages/cairn/src/core/integrity/problems.ts';
import { Installation } from '../api/installation.ts';
import { commandsOf, requestOf } from './commands.ts';
import { readDocument } from './snippets.ts';

const PAGE = 'docs/integrity.md';

test(`${PAGE} shows requests with their actual answers`, async () => {
  const installation = new Installation();
  const key = await installation.key('boss', { roles: ['admin'] });
  const started = await installation.post(key, { type: 'echo', input: { text: 'x' } });
  const { runId } = (await started.json()) as { runId: string };
  await installation.world.run();
  const run = installation.world.db.runs.get(runId);
  run?.steps.clear();
  const bodies: unknown[] = [];
  for (const command of commandsOf(PAGE)) {
    const answer = await installation.api.request(requestOf(said(command, runId), key));
    expect(answer.status).toBe(200);
    bodies.push(await answer.json());
  }
  expect(bodies).toMatchObject([{ verdict: 'healable' }, { outcome: 'planned' }, { outcome: 'applied' }]);
});

/** Without the quotes that keep a shell from the question mark. */
function said(command: string, runId: string): string {
  return command.replace('$RUN', runId).replace(/"(\$URL[^"]*)"/, '$1');
}

test(`${PAGE} names only existing codes and events`, () => {
  const text = readDocument(PAGE);
  const codes = [...text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, code]) => code);
  expect(codes.length).toBeGreaterThan(1);
  expect(codes.filter((code) => !(PROBLEM_CODES as readonly (string | undefined)[]).includes(code))).toEqual(
    [],
  );
  const sources = [
    'operations/integrity/sample-runs.ts',
    'platform/background-handlers.ts',
    'core/run/events.ts',
  ]
    .map((file) => readDocument(`packages/cairn/src/${file}`))
    .join();
  for (const event of ['run_inconsistent', 'runs_sampled', 'snapshot_repaired', 'run_superseded']) {
    expect(text).toContain(`\`${event}\``);
    expect(sources).toContain(event);
  }
});
