import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { driven } from '../../support/successors.ts';
import { Installation } from '../installation.ts';

const SECRET = 's3cret-address';
const PADDING = 'x'.repeat(300 * 1024);

/** Fails until it is repaired; `seen` has the input that its body and its predicate get. */
function replying() {
  const seen: unknown[] = [];
  const cause = { mended: true };
  const workflow = defineWorkflow({
    type: 'replying',
    planVersion: 1,
    input: z.object({
      text: z.string(),
      replyTo: z.string().optional(),
      people: z.array(z.object({ name: z.string(), token: z.string() })).optional(),
    }),
    secretInput: ['replyTo', 'people.*.token'],
    steps: (step) => ({
      told: step('tell', { when: ({ input }) => input.replyTo !== undefined }, ({ input }) => {
        seen.push(input.replyTo);
        if (!cause.mended) throw new Fatal('broken');
        return input.people?.map(({ token }) => token.length) ?? 'told';
      }),
    }),
  });
  return { workflow, seen, cause };
}

async function started(input: unknown, { mended = true } = {}) {
  const { workflow, seen, cause } = replying();
  cause.mended = mended;
  const installation = new Installation([workflow]);
  const key = await installation.key('robot', { roles: ['operator'] });
  const answer = await installation.post(key, { type: 'replying', input });
  const { runId } = (await answer.json()) as { runId: string };
  await installation.world.run();
  return { installation, key, runId, seen, cause };
}

/** The text of every answer about the run that a viewer can get. */
async function told(installation: Installation, runId: string): Promise<string> {
  const viewer = await installation.key('viewer', { roles: ['viewer'] });
  const parts = ['', '/events', '/checkpoints', '/steps', '/effects', '/graph'];
  const paths = ['/v1/runs', ...parts.map((part) => `/v1/runs/${runId}${part}`)];
  const answers = await Promise.all(paths.map((path) => installation.get(path, viewer)));
  expect(answers.map(({ status }, at) => [paths[at], status])).toEqual(paths.map((path) => [path, 200]));
  // This URL returns only a large input, otherwise 404.
  const output = await installation.get(`/v1/runs/${runId}/checkpoints/1/output`, viewer);
  return (await Promise.all([...answers, output].map((answer) => answer.text()))).join('\n');
}

const people = [{ name: 'Ada', token: SECRET }];

describe('a secret member of an input', () => {
  test.each([
    ['small', ''],
    ['above what a checkpoint carries', PADDING],
  ])('reaches the body of a %s input, and no answer to a viewer', async (_, padding) => {
    const input = { text: `Hello${padding}`, replyTo: SECRET, people };
    const { installation, runId, seen } = await started(input);
    expect(seen).toEqual([SECRET]);
    const text = await told(installation, runId);
    expect(text).not.toContain(SECRET);
    expect(text).toContain('[redacted]');
    expect(text).toContain('Ada');
  });

  test('is in no document of the run except the one for step bodies, which no output refers to', async () => {
    const { installation, runId } = await started({ text: 'Hello', replyTo: SECRET });
    const { db } = installation.world;
    const run = db.runs.get(runId);
    expect(
      JSON.stringify([run?.snapshot, run?.events, [...(run?.checkpoints.values() ?? [])]]),
    ).not.toContain(SECRET);
    expect([...(run?.checkpoints.values() ?? [])].filter(({ outputRef }) => outputRef)).toEqual([]);
  });

  test('cannot be guessed from the journal: two runs of the same input have different hashes', async () => {
    const one = await started({ text: '', replyTo: '1' });
    const { world } = one.installation;
    const again = await world.start('replying', { text: '', replyTo: '1' });
    const [first, second] = [world.stateOf(one.runId), world.stateOf(again)];
    expect(first.secretInput?.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(second.secretInput?.sha256).not.toBe(first.secretInput?.sha256);
    expect(second.inputHash).toBe(first.inputHash);
  });

  test('is available to a resume, a replay, and a replay of that; a fork with another input has its own', async () => {
    const { installation, runId, seen, cause } = await started(
      { text: '', replyTo: SECRET },
      { mended: false },
    );
    cause.mended = true;
    const { world } = installation;
    const tenantId = 'acme';
    seen.length = 0;
    const resumed = await driven(world, 'resume', runId, { tenantId });
    expect([resumed.status, seen.splice(0)]).toEqual(['completed', [SECRET]]);
    const from = { step: 'tell' };
    const replayed = await driven(world, 'replay', resumed.id, { tenantId, from });
    const again = await driven(world, 'replay', replayed.id, { tenantId, from });
    expect([again.status, seen.splice(0)]).toEqual(['completed', [SECRET, SECRET]]);
    expect(again.secretInput?.runId).toBe(runId);
    const forked = await driven(world, 'fork', runId, {
      tenantId,
      input: { value: { text: '', replyTo: 'other' } },
      from,
    });
    expect([forked.status, seen]).toEqual(['completed', ['other']]);
    expect(await told(installation, forked.id)).not.toContain(SECRET);
  });

  test('that is absent costs no read or write', async () => {
    const { installation, runId, seen } = await started({ text: 'Hello' });
    expect([installation.world.stateOf(runId).secretInput, seen]).toEqual([undefined, []]);
    expect(installation.world.db.runs.get(runId)?.snapshot.status).toBe('completed');
  });

  test('is refused in a schedule, which shows its input', async () => {
    const { installation } = await started({ text: '' });
    const admin = await installation.key('admin', { roles: ['admin'] });
    const answer = await installation.api.request('/v1/schedules', {
      method: 'POST',
      headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'replying', cron: '0 9 * * *', input: { text: '', replyTo: SECRET } }),
    });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('input.replyTo')]);
  });
});

test.each([['not a list'], [[1]], [['a..b']], [['']]])(
  'secretInput: %j is refused at load',
  (secretInput) => {
    const { workflow } = replying();
    const definition = { type: 'x', planVersion: 1, input: workflow.input, steps: () => ({}), secretInput };
    expect(() => defineWorkflow(definition as unknown as Parameters<typeof defineWorkflow>[0])).toThrow(
      "'secretInput' is a list of dotted paths",
    );
  },
);
