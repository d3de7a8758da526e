import { beforeEach, describe, expect, test } from '@jest/globals';
import { OPERATIONS, type OperationName } from '../../packages/cairn/src/api/openapi/paths/all.ts';
import { type ApiOperation, partsOf } from '../../packages/cairn/src/api/openapi/paths/describe.ts';
import { Installation } from './installation.ts';

interface Page {
  readonly items: readonly { readonly id: string }[];
  readonly next?: string;
  readonly code?: string;
  readonly field?: string;
  readonly help?: string;
}

/** Another value for each parameter that selects runs. */
const OTHERS: Readonly<Record<string, string>> = {
  status: 'completed',
  waitsFor: 'awaiting_approval',
  type: 'echo',
  repoId: 'acme/shop',
  threadId: 't',
  tag: 'customer:1',
  since: '2020-01-01T00:00:00Z',
  until: '2100-01-01T00:00:00Z',
  topLevel: 'true',
  match: 'amount>1',
  sort: 'oldest',
  vocabulary: 'orca',
};

/** Clients compute times from the current time in each request, and the console omits child runs from the second page on. */
const MAY_DIFFER = ['since', 'until', 'topLevel', 'vocabulary'];

const PAGED = Object.entries<ApiOperation>(OPERATIONS).filter(([, { query = {} }]) => 'cursor' in query);

let installation: Installation;
let key: string;
let runs: string[];

async function get(path: string, of = key): Promise<Page & { readonly status: number }> {
  const answer = await installation.get(path, of);
  return { status: answer.status, ...((await answer.json()) as Page) };
}

beforeEach(async () => {
  installation = new Installation();
  key = await installation.key('ops', { roles: ['admin'] });
  for (let n = 0; n < 3; n += 1) await installation.post(key, { type: 'echo', input: { text: `${n}` } });
  await installation.world.run();
  runs = (await get('/v1/runs')).items.map(({ id }) => id);
});

const REFUSED = { status: 400, code: 'INVALID_INPUT', field: 'cursor' };

describe('a cursor', () => {
  test('continues its list, with pages of any size', async () => {
    const { next } = await get('/v1/runs?limit=1&type=echo');
    const rest = await get(`/v1/runs?cursor=${next}&type=echo&limit=5`);
    expect(rest.items.map(({ id }) => id)).toEqual(runs.slice(1));
  });

  test.each(
    Object.keys(OPERATIONS['GET /v1/runs'].query).filter(
      (name) => !['limit', 'cursor', ...MAY_DIFFER].includes(name),
    ),
  )('of runs is refused with another %s', async (name) => {
    const other = `${name}=${encodeURIComponent(OTHERS[name] ?? '')}`;
    const { next } = await get('/v1/runs?limit=1');
    const refused = await get(`/v1/runs?cursor=${next}&${other}`);
    expect(refused).toMatchObject(REFUSED);
    expect(refused.help).toContain('limit');
    expect((await get(`/v1/runs?${other}`)).status).toBe(200);
  });

  test.each(MAY_DIFFER)('of runs continues with another %s', async (name) => {
    const { next } = await get('/v1/runs?limit=1');
    const rest = await get(`/v1/runs?cursor=${next}&${name}=${encodeURIComponent(OTHERS[name] ?? '')}`);
    expect(rest.items.map(({ id }) => id)).toEqual(runs.slice(1));
  });

  test.each(['events', 'steps', 'checkpoints'])(
    'of the %s of one run is refused for another',
    async (list) => {
      const [one, other] = runs;
      // A short run has one step. The cursor names the list, whatever its position.
      const { next = '' } = await get(`/v1/runs/${one}/events?limit=1`);
      expect(await get(`/v1/runs/${other}/${list}?cursor=${next}`)).toMatchObject(REFUSED);
      expect((await get(`/v1/runs/${one}/events?cursor=${next}`)).status).toBe(200);
    },
  );

  test('is refused for another tenant', async () => {
    const { next } = await get('/v1/runs?limit=1');
    const other = await installation.key('other', { tenantId: 'globex', roles: ['operator'] });
    expect(await get(`/v1/runs?cursor=${next}`, other)).toMatchObject(REFUSED);
  });

  test.each(PAGED.map(([name]) => name as OperationName))(
    'of another list is refused by %s',
    async (name) => {
      const [, template] = partsOf(name);
      const path = template.replace('{id}', runs[0] ?? '');
      const parameters = name.endsWith('/memos') ? 'step=say&' : '';
      const { next } = await get('/v1/runs?limit=1&type=echo');
      expect(await get(`${path}?${parameters}cursor=${next}`)).toMatchObject(REFUSED);
    },
  );

  test('that an earlier version issued is a position', async () => {
    const { next = '' } = await get('/v1/runs?limit=1');
    const rest = await get(`/v1/runs?cursor=${next.split('.')[0]}`);
    expect(rest.items.map(({ id }) => id)).toEqual(runs.slice(1));
  });
});

describe('the cursor of a change of many runs', () => {
  const change = async (body: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sent = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await installation.api.request('/v1/runs/bulk', sent);
    return { status: answer.status, ...((await answer.json()) as Page) };
  };

  test('is refused with another filter or act, and belongs to the dry run too', async () => {
    const filter = { type: 'echo' };
    const { next } = await change({ act: 'replay', filter, limit: 1, dryRun: true });
    const page = { act: 'replay', filter, limit: 1, cursor: next };
    expect(await change({ ...page, filter: { ...filter, status: 'failed' } })).toMatchObject(REFUSED);
    expect(await change({ ...page, act: 'resume' })).toMatchObject(REFUSED);
    expect((await change({ ...page, filter: { ...filter, since: '2020-01-01T00:00:00Z' } })).status).toBe(
      200,
    );
  });
});
