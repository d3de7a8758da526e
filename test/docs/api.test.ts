import { afterAll, expect, test } from '@jest/globals';
import type { Binding } from '../../packages/cairn/src/engine/define/capability.ts';
import type { Workflow } from '../../packages/cairn/src/engine/define/steps.ts';
import { Installation } from '../api/installation.ts';
import { commandsOf, requestOf } from './commands.ts';
import { writeSnippets } from './snippets.ts';

const snippets = writeSnippets('docs/first-workflow.md');
afterAll(() => snippets.remove());

/** Executes due work without moving time, so that waiting runs keep waiting. */
async function atRest({ world }: Installation, run: string): Promise<void> {
  await world.run(
    () =>
      world.queue.due(world.clock.now()).length === 0 &&
      !['pending', 'running'].includes(world.stateOf(run).status),
  );
}

test('the commands of docs/api.md lead one run from its start to its successor', async () => {
  const { inviteTeam, openAccount, mailBy } = (await import(
    snippets.at('functions/src/workflows/invite-team.ts')
  )) as { inviteTeam: Workflow; openAccount: Workflow; mailBy: (url: string) => Binding };
  const installation = new Installation([inviteTeam, openAccount], [mailBy('http://127.0.0.1:1')]);
  const key = await installation.key('boss', { roles: ['operator'] });
  let run = '';
  const answers: [string, number][] = [];
  for (const command of commandsOf('docs/api.md')) {
    const request = requestOf(command.replaceAll('$RUN', run).replace(/"(\$URL[^"]*)"/, '$1'), key);
    const answer = await installation.api.request(request);
    answers.push([
      `${request.method} ${new URL(request.url).pathname.replace(run || '-', 'RUN')}`,
      answer.status,
    ]);
    if (answer.headers.get('content-type')?.startsWith('text/event-stream')) await answer.body?.cancel();
    else if (run === '' && answer.status === 201) run = ((await answer.json()) as { runId: string }).runId;
    if (run !== '') await atRest(installation, run);
  }
  expect(answers).toEqual([
    ['GET /v1/healthz', 200],
    ['GET /v1/workflows', 200],
    ['POST /v1/runs', 201],
    ['GET /v1/runs', 200],
    ['GET /v1/runs', 200],
    ['GET /v1/runs/RUN', 200],
    ['GET /v1/runs/RUN/steps', 200],
    ['GET /v1/runs/RUN/events', 200],
    ['GET /v1/runs/RUN/checkpoints', 200],
    ['GET /v1/runs/RUN/effects', 200],
    ['GET /v1/runs/RUN/memos', 200],
    ['GET /v1/runs/RUN/stream', 200],
    ['POST /v1/runs/RUN/approvals/agree', 200],
    ['POST /v1/events', 200],
    ['POST /v1/runs/RUN/signals', 200],
    ['POST /v1/runs/RUN/cancel', 200],
    ['POST /v1/runs/RUN/preview', 200],
    ['POST /v1/runs/RUN/resume', 201],
    ['POST /v1/runs/bulk', 200],
    ['POST /v1/runs/bulk', 200],
  ]);
  const { status, supersededBy } = installation.world.stateOf(run);
  expect([status, supersededBy]).toEqual(['cancelled', expect.stringMatching(/^run_/)]);
});
