import { afterAll, expect, test } from '@jest/globals';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { tick } from '../../../packages/cairn/src/triggers/schedule/tick.ts';
import { Installation } from '../../api/installation.ts';
import { readDocument, writeSnippets } from '../snippets.ts';

const snippets = writeSnippets('docs/schedules.md');
afterAll(() => snippets.remove());

const text = readDocument('docs/schedules.md');
const commands = text.replaceAll('\\\n', ' ').match(/^curl .*$/gm) ?? [];

async function installed(): Promise<Installation> {
  const { report } = (await import(snippets.at('functions/src/my-report.ts'))) as { report: Workflow };
  return new Installation([report]);
}

test('the schedules of docs/schedules.md are declared and fire', async () => {
  const { world, apiDeps } = await installed();
  const deps = { ...apiDeps, declaredTenant: 'acme' };
  await tick(deps);
  // The first weekday of that year is a Thursday; half past eight in Berlin is half past seven.
  world.clock.jump(7.5 * 3_600_000 + 1_000);
  expect(await tick(deps)).toMatchObject({ due: 1, fired: 1 });
  const { items } = await deps.schedules.list('acme', { limit: 10 });
  expect(items.map(({ id, fired }) => [id, fired]).sort()).toEqual([
    ['daily-report.core', 1],
    ['daily-report.web', 0],
  ]);
});

test('every command in docs/schedules.md has the documented effect', async () => {
  const installation = await installed();
  const key = await installation.key('ops', { roles: ['operator'] });
  let id = '';
  const statuses: number[] = [];
  for (const command of commands) {
    const [, path = ''] = /\$URL(\S+)/.exec(command) ?? [];
    const [, body] = /-d '([^']*)'/.exec(command) ?? [];
    const [, method = body === undefined ? 'GET' : 'POST'] = /-X (\S+)/.exec(command) ?? [];
    const answer = await installation.api.request(path.replace('$ID', id), {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
    });
    statuses.push(answer.status);
    const said = (await answer.json()) as { id?: string; slots?: number };
    if (answer.status === 201 && said.id !== undefined) id = said.id;
    if (path.endsWith('/backfill')) expect(said.slots).toBe(7);
  }
  expect(statuses).toEqual([201, 200, 200, 200, 200, 200, 201, 200, 200, 200]);
});
