import { expect, test } from '@jest/globals';
import { Installation } from '../../api/installation.ts';
import { commandsOf, requestOf } from '../commands.ts';

test('docs/access.md shows commands that issue a key once, and list it', async () => {
  const installation = new Installation();
  const key = await installation.key('boss', { roles: ['admin'] });
  const [create = '', list = '', ...rest] = commandsOf('docs/access.md');
  expect(rest).toEqual([]);
  const first = await installation.api.request(requestOf(create, key));
  const made = (await first.json()) as { id: string; secret: string };
  expect(first.status).toBe(201);
  expect((await installation.get('/v1/runs', made.secret)).status).toBe(200);
  const again = await installation.api.request(requestOf(create, key));
  expect(await again.json()).toMatchObject({ id: made.id, secretShown: true });
  const listed = (await (await installation.api.request(requestOf(list, key))).json()) as {
    items: { id: string; name?: string; role: string }[];
  };
  expect(listed.items).toContainEqual(
    expect.objectContaining({ id: made.id, name: 'CI', role: 'submitter' }),
  );
});
