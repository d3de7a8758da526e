/** Runs that make no progress until somebody repairs something, on their page, in the inbox of their tenant and in a check. */
import { beforeEach, expect, test } from '@jest/globals';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { StoreRefused } from '../../../packages/cairn/src/ports/store-errors.ts';
import { findingList } from '../../../packages/cli/src/views/inbox.ts';
import { findingText } from '../../../packages/cli/src/views/run-page.ts';
import { intercept } from '../../support/intercept.ts';
import { Installation } from '../installation.ts';

const WORDS = 'the value is too deep';
const refusal = new StoreRefused('commit', new Error(WORDS), { code: 3, reason: 'request' });
const FOUND = { code: 'RUN_UNWRITABLE', reason: 'request', message: `commit: ${WORDS}` };

let installation: Installation;
let runId: string;
let own: string;
let rival: string;

beforeEach(async () => {
  installation = new Installation();
  own = await installation.key('ops', { tenantId: 'acme', roles: ['operator'] });
  rival = await installation.key('others', { tenantId: 'rival', roles: ['admin'] });
  const started = await installation.post(own, { type: 'echo', input: { text: 'hello' } });
  ({ runId } = (await started.json()) as { runId: string });
  const { deps, store } = installation.world;
  const refusing = intercept(store, ({ method }, proceed) =>
    method === 'commit' ? Promise.reject(refusal) : proceed(),
  );
  await expect(drive({ ...deps, store: refusing }, { runId })).rejects.toBe(refusal);
});

async function read(path: string, key = own) {
  const answer = await installation.get(path, key);
  return { status: answer.status, body: JSON.parse(await answer.text()) };
}

test('the page of the run, the inbox and a check report an unwritable run, with the error of the store and advice', async () => {
  const { body: run } = await read(`/v1/runs/${runId}`);
  expect(run.finding).toMatchObject(FOUND);
  expect(run.finding.help).toContain('The run continues by itself.');
  const { body: inbox } = await read('/v1/inbox');
  expect(inbox).toMatchObject({ items: [], findings: [{ ...FOUND, runId, type: 'echo' }] });
  const { body: checked } = await read(`/v1/runs/${runId}/consistency`);
  expect(checked).toMatchObject({ verdict: 'needs_person', problems: [{ code: 'RUN_UNWRITABLE' }] });
});

test('the command line prints it in one sentence, and then the advice', async () => {
  const { body: run } = await read(`/v1/runs/${runId}`);
  const shape = {
    style: { dim: String, bold: String, paint: (_: string, text: string) => text },
    columns: 80,
  };
  const text = findingText(run.finding, shape as never);
  expect(text).toBe(
    `  RUN_UNWRITABLE The store refuses to write the run: commit: ${WORDS}\n    ${run.finding.help}\n`,
  );
  const { body: inbox } = await read('/v1/inbox');
  const listed = findingList(inbox.findings, installation.world.clock.now(), shape as never);
  expect(listed).toContain(`${runId} echo, since `);
  expect(listed).toContain(text);
});

test('another tenant sees nothing of it', async () => {
  expect(await read('/v1/inbox', rival)).toEqual({ status: 200, body: { items: [] } });
  expect((await read(`/v1/runs/${runId}`, rival)).status).toBe(404);
});

test('only the first page of the inbox has it', async () => {
  const { body } = await read('/v1/inbox?limit=1');
  expect(body.findings).toHaveLength(1);
  const { findings } = installation.apiDeps.diagnosis;
  let requestCount = 0;
  Object.assign(findings, {
    ofTenant: async () => {
      requestCount += 1;
      return [];
    },
  });
  await read('/v1/inbox?cursor=bm9wZQ');
  expect(requestCount).toBe(0);
});

test('once the run is writable again its page and a check no longer report it, before the scan removes the finding', async () => {
  const { db } = installation.world;
  const named = db.findings.get(runId);
  if (!named) throw new Error('it is not named');
  await installation.world.run();
  db.findings.set(runId, named);
  expect((await read(`/v1/runs/${runId}`)).body.finding).toBeUndefined();
  expect((await read(`/v1/runs/${runId}/consistency`)).body.verdict).toBe('consistent');
});
