import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { order } from '../../examples/order/order.ts';
import { pretendedBindings } from '../../examples/order/payments.ts';
import { helpOfGroup } from '../../packages/cli/src/arguments/help.ts';
import { asCalled, callOf } from '../../packages/cli/src/invocation.ts';
import { PLAIN } from '../../packages/cli/src/render/style.ts';
import { Stage } from './support/stage.ts';

const ROOT = join(import.meta.dirname, '../..');
const NPX = { npm_config_user_agent: 'npm/11.0.0 node/v24.0.0', npm_command: 'exec' };
const SCRIPT = {
  npm_config_user_agent: 'npm/11.0.0 node/v24.0.0',
  npm_lifecycle_event: 'cairn',
  npm_config_local_prefix: '/home/ada/cairn',
};

test.each([
  ['cairn', {}],
  ['npx cairn', NPX],
  ['npm run cairn --', { ...SCRIPT, INIT_CWD: '/home/ada/cairn' }],
  ['npm run cairn --', { ...SCRIPT, INIT_CWD: '/home/ada/cairn/docs' }],
  ['cairn', { ...SCRIPT, INIT_CWD: '/home/ada/cairn-two' }],
  ['cairn', { ...SCRIPT, npm_lifecycle_event: 'demo', INIT_CWD: '/home/ada/cairn' }],
  ['pnpm exec cairn', { npm_config_user_agent: 'pnpm/10.0.0 npm/? node/v24.0.0', npm_command: 'exec' }],
  ['yarn cairn', { npm_config_user_agent: 'yarn/4.0.0 npm/? node/v24.0.0' }],
  ['yarn cairn', { npm_config_user_agent: 'yarn/1.22.22 npm/? node/v24.0.0', npm_lifecycle_event: 'cairn' }],
  ['cairn', { npm_config_user_agent: 'bun/1.3.0 npm/? node/v24.0.0' }],
])('%s is how it was called with %j', (call, env) => {
  expect(callOf(env)).toBe(call);
});

test('only commands in hints are rewritten, and they still work', () => {
  const hint =
    'Run cairn init, or npx cairn dev. The package cairn, cairn/testing and /srv/cairn app stay; `cairn doctor`.';
  expect(asCalled(hint, 'npx cairn')).toBe(
    'Run npx cairn init, or npx cairn dev. The package cairn, cairn/testing and /srv/cairn app stay; `npx cairn doctor`.',
  );
  expect(asCalled(hint, 'cairn')).toBe(hint);
  const once = asCalled('Run cairn init.', 'yarn cairn');
  expect([once, asCalled(once, 'yarn cairn')]).toEqual(['Run yarn cairn init.', 'Run yarn cairn init.']);
});

test.each(['npx cairn', 'npm run cairn --'])(
  'the help names both ways to call it if it was called by %s',
  (call) => {
    const [, , npx, npm] = helpOfGroup([], [], { style: PLAIN, room: 80, call }).split('\n');
    expect(npx).toMatch(/^ {2}npx cairn COMMAND … /);
    expect(npm).toMatch(/^ {2}npm run cairn -- COMMAND … /);
  },
);

describe('printed commands can be pasted', () => {
  const waiting = async () => {
    const stage = new Stage([order], [...pretendedBindings]);
    const run = (
      await stage.cairn(['runs', 'start', 'order', '--input', '{"amountCents":120000}'])
    ).out.trim();
    await stage.drive();
    return { stage, run };
  };

  test.each([['explain'], ['runs show'], ['inbox']])('of %s', async (command) => {
    const { stage, run } = await waiting();
    const words = [...command.split(' '), ...(command === 'inbox' ? [] : [run])];
    const { out } = await stage.cairn(words, { env: NPX });
    const line = out.split('\n').find((text) => text.includes('cairn runs approve')) ?? '';
    const pasted = line.trim().split('   ')[0]?.split(' ') ?? [];
    expect(pasted.slice(0, 4)).toEqual(['npx', 'cairn', 'runs', 'approve']);
    expect((await stage.cairn(pasted.slice(2))).code).toBe(0);
    expect((await stage.cairn(words)).out).not.toContain('npx');
  });

  test('of refusals and of help', async () => {
    const { stage, run } = await waiting();
    const output = async (...words: string[]) => (await stage.cairn(words, { env: NPX })).err;
    expect(await output('runs', 'show', run, '--bogus')).toContain('See npx cairn runs show --help.');
    expect(await output('runs', 'show', 'nonsense')).toContain('npx cairn runs search');
    expect(await output('runs', 'start', 'order', '--input', '[]')).toContain(
      'npx cairn workflows input order --example prints',
    );
    const { out } = await stage.cairn(['runs', 'show', '--help'], { env: NPX });
    expect(out).toMatch(/^npx cairn runs show RUN/);
    expect(out).toMatch(/^ {2}npx cairn runs show last/m);
  });

  test('without Node’s warning about experimental SQLite; other warnings stay', () => {
    const warn = `data:text/javascript,process.emitWarning('SQLite','ExperimentalWarning');process.emitWarning('old','Other')`;
    const main = join(ROOT, 'packages/cli/src/main.ts');
    const { stdout, stderr } = spawnSync(process.execPath, ['--import', warn, main, 'help', 'runs', 'list'], {
      encoding: 'utf8',
    });
    expect(stdout).toContain('runs list');
    expect(stderr).toContain('Other: old');
    expect(stderr).not.toContain('Experimental');
  });

  test('from a terminal in this repository', () => {
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^npm_|^INIT_CWD$/i.test(name)),
    );
    const { stderr, status } = spawnSync('npm', ['run', '--silent', 'cairn', '--', 'runs', 'show'], {
      cwd: ROOT,
      env,
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([2, expect.stringContaining('See npm run cairn -- runs show --help.')]);
  });
});
