import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { Stage } from './support/stage.ts';

const review = defineWorkflow({
  type: 'review',
  planVersion: 2,
  input: z.object({ pull: z.number() }),
  steps(step) {
    const size = step('size', ({ input }) => ({ lines: input.pull * 10 }));
    const ask = step.approval('sign-off', {
      needs: { size },
      ask: ({ input }) => `Merge #${input.pull}?`,
      timeout: '7d',
    });
    const built = step.event('built', {
      needs: { ask },
      event: 'ci',
      key: ({ input }) => `pull-${input.pull}`,
    });
    return { done: step('merge', { needs: { built } }, () => 'merged') };
  },
});
const plain = defineWorkflow({
  type: 'plain',
  planVersion: 1,
  input: z.object({ fail: z.boolean().default(false) }),
  steps: (step) => ({
    end: step('work', { retry: { maxAttempts: 1 } }, ({ input }) => {
      if (input.fail) throw new Error('it broke');
      return 1;
    }),
  }),
});

let stage: Stage;
beforeEach(() => {
  stage = new Stage([review, plain]);
});

async function started(pull = 7): Promise<string> {
  const { code, out } = await stage.cairn(['runs', 'start', 'review', '--input', `{"pull":${pull}}`]);
  expect(code).toBe(0);
  await stage.drive();
  return out.trim();
}

interface Run {
  readonly status: string;
  readonly error?: { readonly code: string };
}
const statusOf = async (id: string) => (await stage.answer<{ run: Run }>(['runs', 'show', id])).run.status;

describe('a run', () => {
  test('is started once per key, shown, and answered until it ends', async () => {
    const start = ['runs', 'start', 'review', '--input', '@pull.json', '--key', 'once'];
    const files = { '/home/ada/pull.json': '{"pull":7}' };
    const first = await stage.cairn(start, { files });
    const again = await stage.cairn(start, { files });
    expect([first.code, again.out]).toEqual([0, first.out]);
    const id = first.out.trim();
    await stage.drive();

    const page = await stage.cairn(['runs', 'show', 'last']);
    expect(page.out).toContain(`review v2 awaiting_approval  ${id}`);
    expect(page.out).toMatch(/size +succeeded/);
    expect(page.out).toContain('sign-off waits for approval: Merge #7? (in 7 d)');
    expect(page.out).toContain(`cairn runs approve ${id} sign-off`);
    expect(page.out).toMatch(/ {4}1 {4}\+0\.000s {2}● created by cli .*review v2/);

    expect(await stage.cairn(['runs', 'approve', id, '--note', 'looks good'])).toMatchObject({
      code: 0,
      out: 'approve sign-off.1 by c.key-installation\n',
    });
    const other = await stage.cairn(['runs', 'reject', id, 'sign-off']);
    expect([other.code, other.err]).toEqual([1, expect.stringContaining('APPROVAL_DECIDED')]);
    await stage.drive();
    expect((await stage.cairn(['runs', 'show', id])).out).toContain(
      'cairn events send ci pull-7 --data JSON',
    );

    const sent = await stage.cairn(['events', 'send', 'ci', 'pull-7', '--data', '-'], {
      stdin: '{"ok":true}',
    });
    expect(sent.err + sent.out).toBe(`delivered ${id}\n`);
    await stage.drive();
    expect((await stage.cairn(['runs', 'show', id])).out).toContain('review v2 completed in');
    expect((await stage.cairn(['runs', 'watch', id])).code).toBe(0);
    const { steps } = await stage.answer<{ steps: { id: string; checkpoint: number }[] }>([
      'runs',
      'show',
      id,
    ]);
    const merged = steps.find((step) => step.id === 'merge');
    expect((await stage.cairn(['runs', 'output', id, String(merged?.checkpoint)])).out).toBe('"merged"\n');
  });

  test.each([
    [['halt', '--note', 'superseded'], 'cancelled'],
    [['reject', '--note', 'no'], 'failed'],
    [['waive', '--note', 'urgent'], 'waiting_external'],
    [['send-back', '--feedback', 'smaller', '--again', 'size'], 'awaiting_approval'],
  ])('answered with %j is %s', async ([verb = '', ...rest], status) => {
    const id = await started();
    expect(await stage.cairn(['runs', verb, id, 'sign-off', ...rest])).toMatchObject({ code: 0 });
    await stage.drive();
    expect(await statusOf(id)).toBe(status);
  });

  test('can be cancelled, or sent a signal in advance', async () => {
    const id = await started();
    expect(await stage.cairn(['runs', 'signal', id, 'ci', '--for', 'pull-7', '--data', '1'])).toMatchObject({
      out: 'buffered until the run waits for it\n',
    });
    expect(await stage.cairn(['runs', 'cancel', id, '--reason', 'enough'])).toMatchObject({
      code: 0,
      out: `cancelled ${id}\n`,
    });
    expect(await statusOf(id)).toBe('cancelled');
    expect((await stage.cairn(['runs', 'watch', id])).code).toBe(6);
    const nothing = await stage.cairn(['runs', 'approve', id]);
    expect([nothing.code, nothing.err]).toEqual([1, expect.stringContaining('the run asks nothing')]);
  });

  test('that fails ends a watch with 1, and the list shows its error', async () => {
    const start = stage.cairn(['runs', 'start', 'plain', '--input', '{"fail":true}']);
    const id = (await start).out.trim();
    await stage.drive();
    expect((await stage.cairn(['runs', 'watch', id])).code).toBe(1);
    const { out } = await stage.cairn(['runs', 'list', '--status', 'failed']);
    expect(out).toMatch(new RegExp(`${id} +plain v1 +failed +0 done .* in work`));
  });

  test.each([[2_000], [3]])('shows its newest %d events, the oldest of them first', async (most) => {
    const id = await started();
    const events = await stage.answer<{ seq: number }[]>(['runs', 'events', id, '--limit', String(most)]);
    const head = events.at(-1)?.seq ?? 0;
    const count = Math.min(most, head);
    expect(head).toBeGreaterThan(3);
    expect(events.map(({ seq }) => seq)).toEqual(
      Array.from({ length: count }, (_, at) => head - count + at + 1),
    );
  });

  test('that is missing exits with 3; input that is not JSON exits with 2, and nothing is sent', async () => {
    expect((await stage.cairn(['runs', 'show', 'run_no'])).code).toBe(3);
    const before = stage.installation.written();
    const { code, err } = await stage.cairn(['runs', 'start', 'review', '--input', '{pull:7}']);
    expect([code, err]).toEqual([2, expect.stringContaining('--input is not valid JSON')]);
    for (const [amounts, why] of [
      [['usd'], 'use LIMIT=AMOUNT'],
      [['dollars=1'], 'use LIMIT=AMOUNT with a limit of usd, '],
      [['usd=much'], "'much' is not a number"],
      [['usd=1', 'usd=2'], "names 'usd' twice"],
    ] as const) {
      const raise = amounts.flatMap((amount) => ['--raise', amount]);
      const raised = await stage.cairn(['runs', 'approve', 'last', ...raise]);
      expect([raised.code, raised.err]).toEqual([2, expect.stringContaining(why)]);
    }
    const missing = await stage.cairn(['runs', 'start', 'review', '--input', '@no.json']);
    expect([missing.code, missing.err]).toEqual([
      2,
      expect.stringContaining('--input: there is no file no.json in /home/ada'),
    ]);
    const refused = await stage.cairn(['runs', 'start', 'review', '--input', '{}']);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('field: ')]);
    expect(stage.installation.written()).toBe(before);
  });
});

describe('lists', () => {
  test('without items say so on standard error', async () => {
    const empty = new Stage([plain]);
    expect(await empty.cairn(['runs', 'list'])).toEqual({ code: 0, out: '', err: 'No runs.\n' });
    expect((await empty.cairn(['runs', 'show', 'last'])).code).toBe(3);
    expect(await empty.answer(['runs', 'list'])).toEqual({ items: [], more: false });
  });

  test('fit a terminal with colours, and have neither limit nor colours in a pipe', async () => {
    await started();
    const seen = await stage.cairn(['runs', 'list'], { isTty: true, columns: 60, env: { TERM: 'xterm' } });
    const lines = seen.out.trimEnd().split('\n');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: removes colours
    for (const line of lines) expect(line.replace(/\x1b\[\d+m/g, '').length).toBeLessThanOrEqual(60);
    expect(seen.out).toContain('\x1b[');
    expect((await stage.cairn(['runs', 'list'])).out).not.toContain('\x1b[');
  });
});

describe('schedules', () => {
  test('are made, changed, paused, fired and deleted', async () => {
    const made = await stage.answer<{ id: string }>([
      'schedules',
      'create',
      'plain',
      '30 3 * * *',
      '--timezone',
      'Europe/Berlin',
      '--catch-up',
      'all',
      '--name',
      'nightly',
    ]);
    const { id } = made;
    expect((await stage.cairn(['schedules', 'list'])).out).toMatch(
      new RegExp(`${id} +nightly +plain +30 3 \\* \\* \\* Europe/Berlin +active`),
    );
    expect((await stage.cairn(['schedules', 'change', id, '--cron', '0 4 * * *'])).out).toContain(
      "plain at '0 4 * * *' Europe/Berlin",
    );
    expect((await stage.cairn(['schedules', 'show', id])).out).toMatch(
      /next +\d{4}-\d\d-\d\d 0[23]:00:00 UTC/,
    );
    expect((await stage.cairn(['schedules', 'pause', id, '--reason', 'holidays'])).out).toBe(
      `paused ${id}\n`,
    );
    expect((await stage.cairn(['schedules', 'show', id])).out).toContain('by c.key-installation: holidays');
    expect((await stage.cairn(['schedules', 'resume', id])).out).toContain(`${id} active`);
    expect((await stage.cairn(['schedules', 'trigger', id])).out).toMatch(/^run_\w+\n$/);
    const count = await stage.cairn(['schedules', 'backfill', id, '--from', '3d', '--dry-run']);
    expect(count.out).toBe('3 slots, 0 of them with a run; none was started\n');
    // Three days back by the clock of the installation, though that of this machine is nine days behind.
    const behind = { now: stage.installation.world.clock.now() - 9 * 86_400_000 };
    expect((await stage.cairn(['schedules', 'backfill', id, '--from', '3d', '--dry-run'], behind)).out).toBe(
      count.out,
    );
    expect((await stage.cairn(['schedules', 'backfill', id, '--from', 'yesterday'])).code).toBe(2);
    expect((await stage.cairn(['schedules', 'delete', id])).out).toBe(`deleted ${id}\n`);
    expect((await stage.cairn(['schedules', 'show', id])).code).toBe(3);
    const wrong = await stage.cairn(['schedules', 'create', 'plain', 'hourly']);
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('field: cron')]);
  });
});

describe('clients', () => {
  test('get their key once, are rotated and revoked', async () => {
    const create = ['clients', 'create', 'CI', 'submitter', '--key', 'ci'];
    const made = await stage.cairn(create);
    const [id = '', key = ''] = made.out.split('\n');
    expect([key, made.err]).toEqual([
      expect.stringMatching(/^cairn_/),
      expect.stringContaining('never shown again'),
    ]);
    expect((await stage.cairn(create)).out).toContain('rotate the client');
    expect((await stage.cairn(['clients', 'list'])).out).toMatch(new RegExp(`${id} +CI +submitter`));
    expect((await stage.cairn(['clients', 'rotate', id, '--grace', '0'])).out).toMatch(/^cairn_/);
    expect((await stage.cairn(['clients', 'revoke', id])).out).toBe(`revoked ${id}\n`);
    expect((await stage.cairn(['clients', 'create', 'x', 'root'])).code).toBe(2);
  });

  test('can be changed by an admin only', async () => {
    expect((await stage.cairn(['clients', 'list'], { role: 'operator' })).code).toBe(5);
  });
});

describe('the switches', () => {
  test('pause one workflow or everything, and never everything by an omitted argument', async () => {
    expect((await stage.cairn(['pause', 'plain', '--reason', 'wrong'])).out).toMatch(
      /^plain is paused since .* by c\.key-installation\n$/,
    );
    expect((await stage.cairn(['workflows'])).out).toMatch(/plain +v1 +yes +\d+ +1 +since .*: wrong/);
    expect((await stage.cairn(['unpause', 'plain'])).out).toMatch(/^plain unpaused, \d+ runs woken\n$/);
    expect((await stage.cairn(['pause'])).code).toBe(2);
    expect((await stage.cairn(['pause', 'plain', '--everything'])).code).toBe(2);
    expect((await stage.cairn(['pause', '--everything'])).out).toBe('kill switch on\n');
    expect((await stage.cairn(['workflows'])).err).toContain('cairn unpause --everything');
    expect((await stage.cairn(['doctor'])).code).toBe(7);
    expect((await stage.cairn(['unpause', '--everything'])).out).toMatch(/^kill switch off/);
  });
});

describe('ids of runs', () => {
  test('can be abbreviated to a prefix, with or without run_', async () => {
    const id = await started(9);
    for (const word of [id, id.slice(0, 10), id.slice(4, 12)]) {
      const output = await stage.cairn(['explain', word]);
      expect([output.code, output.out]).toEqual([0, expect.stringContaining(id)]);
    }
    const unknown = await stage.cairn(['explain', 'run_aaaaaaaaaaaa']);
    expect([unknown.code, unknown.err]).toEqual([3, expect.stringContaining('no run id begins with')]);
    const short = await stage.cairn(['runs', 'show', 'run_abcde']);
    expect([short.code, short.err]).toEqual([3, expect.stringContaining('first 6 characters or more')]);
  });

  test('that are invalid are refused with the valid form, or a suggestion', async () => {
    const mistyped = await stage.cairn(['runs', 'show', 'lst']);
    expect((await stage.cairn(['runs', 'show', 'run_abcd'])).err).toContain(
      "first 6 characters or more after 'run_'",
    );
    expect([mistyped.code, mistyped.err]).toEqual([3, "cairn: 'lst' is no run id\nDid you mean 'last'?\n"]);
    const other = await stage.cairn(['explain', 'order-7']);
    expect(other.code).toBe(3);
    expect(other.err).toMatch(/'order-7' is no run id\nGive the id of the run.*cairn runs search/);
  });

  test('of a mistyped status or workflow are answered with the nearest one', async () => {
    expect((await stage.cairn(['runs', 'list', '--status', 'faild'])).err).toContain('Did you mean failed?');
    expect((await stage.cairn(['runs', 'start', 'plan'])).err).toContain('did you mean plain?');
    const input = await stage.cairn(['workflows', 'input', 'plan']);
    expect([input.code, input.err]).toEqual([
      3,
      "cairn: there is no workflow 'plan'\nDid you mean 'plain'?\n",
    ]);
  });

  test('have an example input that starts a run', async () => {
    const example = await stage.cairn(['workflows', 'input', 'plain', '--example']);
    expect(example.code).toBe(0);
    const { code } = await stage.cairn(['runs', 'start', 'plain', '--input', example.out]);
    expect(code).toBe(0);
  });

  test('a list takes several statuses and a range of time', async () => {
    const ids = async (...words: string[]) =>
      (await stage.answer<{ items: { id: string }[] }>(['runs', 'list', ...words])).items.map(({ id }) => id);
    const id = await started(10);
    const both = ['--status', 'awaiting_approval', '--status', 'failed'];
    expect(await ids(...both, '--since', '1h')).toContain(id);
    expect(await ids(...both, '--until', '1h')).not.toContain(id);
    expect((await stage.cairn(['runs', 'list', '--since', 'yesterday'])).code).toBe(2);
    expect((await stage.cairn(['runs', 'list', '--since', '2026-02-30'])).code).toBe(2);
  });
});

test('can be explained: the state, since when, and the command that continues it', async () => {
  const id = await started(11);
  const waiting = await stage.cairn(['explain', id]);
  expect(waiting.out).toContain('Step sign-off waits for approval.');
  expect(waiting.out).toContain('  “Merge #11?”\n');
  expect(waiting.out).toMatch(/since {2}.* ago\)\n {2}until {2}.*\(in 7 d\)/);
  expect(waiting.out).toContain(`cairn runs approve ${id} sign-off\n`);
  await stage.cairn(['runs', 'halt', id]);
  await stage.drive();
  const halted = await stage.answer<{ text: string; moves: { words: string[] }[] }>(['explain', id]);
  expect(halted.text).toBe('Halted by c.key-installation.');
  expect(halted.moves.map(({ words }) => words.join(' '))).toContain(`runs resume ${id}`);
});

test('--version prints the version of the package', async () => {
  expect(await stage.cairn(['--version'])).toEqual({ code: 0, out: '1.2.3\n', err: '' });
});

test('a restore is shown, begun and released', async () => {
  expect((await stage.cairn(['restore', 'show'])).out).toMatch(/: never restored\n$/);
  expect((await stage.cairn(['restore', 'begin'])).out).toMatch(/^restored at .* paused: no run moves until/);
  expect((await stage.cairn(['restore', 'release'])).out).toMatch(/released, \d+ runs were woken\n$/);
  expect((await stage.cairn(['restore', 'show'])).out).toMatch(/, released\n$/);
});

test('the outcome of a request is shown by its key', async () => {
  await stage.cairn(['runs', 'start', 'plain', '--key', 'told']);
  const { out } = await stage.cairn(['idempotency', 'told']);
  expect(out).toMatch(/^status +completed\nrun +run_\w+\nanswer +201 /);
  expect((await stage.cairn(['idempotency', 'never'])).code).toBe(3);
});
