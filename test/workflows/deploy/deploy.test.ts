import { describe, expect, test } from '@jest/globals';
import { deployTo } from '../../../functions/src/workflows/deploy/workflow.ts';
import { createTestRuntime, expectJournal } from '../../../packages/cairn/src/testing/index.ts';
import { PretendedTarget } from './pretended-target.ts';

const SHA = 'c'.repeat(40);
const INPUT = {
  service: 'shop',
  environment: 'production',
  version: '1.1.0',
  previousVersion: '1.0.0',
  sha: SHA,
};

async function deploying(more: object = {}) {
  const target = new PretendedTarget('1.0.0');
  const runtime = createTestRuntime({ workflows: [deployTo(target)] });
  const run = await runtime.start('deploy', { ...INPUT, ...more });
  await runtime.settle();
  const ci = (conclusion: string) =>
    runtime.deliver({ event: 'ci.finished', key: SHA, data: { conclusion, url: 'https://ci/1' } });
  return { target, runtime, run, ci };
}

/** With a green build and a person's consent: everything up to the soak has been done. */
async function soaking(more: object = {}) {
  const deployment = await deploying(more);
  await deployment.ci('success');
  await deployment.runtime.settle();
  await deployment.runtime.decide(deployment.run, 'approve', { by: 'u.ada' });
  return deployment;
}

describe('a successful deployment', () => {
  test('waits for the CI, asks, releases, watches and returns the lock', async () => {
    const { target, runtime, run, ci } = await deploying();
    expect(run.waits()).toMatchObject([{ step: 'ci', event: 'ci.finished', key: SHA }]);
    await ci('success');
    await runtime.settle();
    expect(run.waits()).toMatchObject([
      {
        step: 'agree',
        question: 'Deploy shop 1.1.0 to production?',
        details: {
          replaces: '1.0.0',
          sha: SHA,
          ci: { conclusion: 'success', url: 'https://ci/1' },
          now: { healthy: true },
        },
      },
    ]);
    expect(target.acts).toEqual([]);
    await runtime.decide(run, 'approve', { by: 'u.ada' });
    await runtime.settle();
    expect(target).toMatchObject({ version: '1.1.0', isLocked: true });
    const began = runtime.now();
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(runtime.now() - began).toBe(15 * 60_000);
    expect(await run.result()).toEqual({
      released: { service: 'shop', environment: 'production', version: '1.1.0' },
      health: { healthy: true },
      unlocked: true,
    });
    expect(target.acts).toEqual(['lock', 'release 1.1.0', 'unlock']);
    expectJournal(run.journal()).toHaveDecided('agree', 'approve').toHaveCompensated().toEndAs('completed');
  });

  test('to an environment other than production asks nobody, unless configured', async () => {
    const staging = await deploying({ environment: 'staging', soak: '1m' });
    await staging.ci('success');
    expect(await staging.runtime.runToEnd(staging.run)).toBe('completed');
    expectJournal(staging.run.journal()).toHaveSkipped('agree');

    const deployment = await deploying({ environment: 'staging', approval: true });
    await deployment.ci('success');
    await expect(deployment.runtime.runToEnd(deployment.run)).rejects.toThrow("a decision on 'agree'");
  });

  test('receives a report of the CI that came before it began', async () => {
    const target = new PretendedTarget('1.0.0');
    const runtime = createTestRuntime({ workflows: [deployTo(target)] });
    await runtime.deliver({ event: 'ci.finished', key: SHA, data: { conclusion: 'success' } });
    const run = await runtime.start('deploy', { ...INPUT, approval: false });
    expect(await runtime.runToEnd(run)).toBe('completed');
  });

  test('waits for a lock that another deployment holds', async () => {
    const { target, runtime, run } = await soaking();
    target.isLocked = true;
    await runtime.settle();
    expect(run.calls('lock')).toBeGreaterThan(0);
    target.isLocked = false;
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(target.acts).toEqual(['lock', 'release 1.1.0', 'unlock']);
  });

  test('stays released if the lock cannot be returned, and reports that', async () => {
    const { target, runtime, run } = await soaking();
    target.failing.set('unlock', 100);
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toMatchObject({ unlocked: false });
    expectJournal(run.journal()).toHaveDegraded('unlock').toHaveCompensated();
    expect(target.version).toBe('1.1.0');
  });
});

describe('a deployment that does not start', () => {
  test.each(['failure', 'cancelled'])('because the CI ended with %s changes nothing', async (conclusion) => {
    const { target, runtime, run, ci } = await deploying();
    await ci(conclusion);
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(run.error()?.message).toContain(`ended with '${conclusion}'`);
    expect(target.acts).toEqual([]);
  });

  test('because the CI never reports ends after two hours', async () => {
    const { runtime, run } = await deploying();
    await runtime.advance('2h');
    expect(run.status()).toBe('failed');
    expectJournal(run.journal()).toHaveFailed('ci').notToHaveRun('lock');
  });

  test('ignores an invalid report and waits for the next', async () => {
    const { runtime, run, ci } = await deploying();
    expect(await ci('maybe')).toMatchObject({ refused: [{ runId: run.id }] });
    expect(run.status()).toBe('waiting_external');
    await ci('success');
    await runtime.settle();
    expect(run.status()).toBe('awaiting_approval');
  });

  test.each(['reject', 'halt'] as const)('because a person answers %s changes nothing', async (decision) => {
    const { target, runtime, run, ci } = await deploying();
    await ci('success');
    await runtime.settle();
    await runtime.decide(run, decision, { note: 'not on a Friday' });
    expect(await runtime.runToEnd(run)).toBe(decision === 'halt' ? 'cancelled' : 'failed');
    expect(target.acts).toEqual([]);
  });

  test('because nobody approves within a day changes nothing', async () => {
    const { target, runtime, run, ci } = await deploying();
    await ci('success');
    await runtime.settle();
    await runtime.advance('24h');
    expectJournal(run.journal()).toEndAs('failed', 'APPROVAL_EXPIRED');
    expect(target.acts).toEqual([]);
  });

  test.each([
    ['of the version that is there', { version: '1.0.0' }, /already/],
    ['of no commit', { sha: 'main' }, /40 hex digits/],
    ['with no soak', { soak: 'a while' }, /duration/],
  ])('%s is refused at the start', async (_name, more, message) => {
    await expect(deploying(more)).rejects.toThrow(message);
  });
});

describe('a deployment that is rolled back', () => {
  const UNDONE = ['lock', 'release 1.1.0', 'roll back to 1.0.0', 'unlock'];

  test('because the version is unhealthy restores the previous one, then returns the lock', async () => {
    const { target, runtime, run } = await soaking();
    target.ill.add('1.1.0');
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(run.error()?.message).toBe('1.1.0 is unhealthy: it answers 500');
    expect(target.acts).toEqual(UNDONE);
    expect(target).toMatchObject({ version: '1.0.0', isLocked: false });
    expectJournal(run.journal()).toHaveCompensated('prepare', 'lock');
  });

  test('because it is cancelled during the soak time', async () => {
    const { target, runtime, run } = await soaking();
    await runtime.advance('5m');
    await runtime.cancel(run, { reason: 'customers complain' });
    expect(await runtime.runToEnd(run)).toBe('cancelled');
    expect(target.acts).toEqual(UNDONE);
    expectJournal(run.journal()).toHaveCompensated('prepare', 'lock').notToHaveRun('check-health');
  });

  test('because the release failed halfway', async () => {
    const { target, runtime, run } = await soaking();
    target.failing.set('release 1.1.0', 100);
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(target.acts).toEqual(['lock', 'roll back to 1.0.0', 'unlock']);
  });

  test('returns the lock even if rolling back fails, and leaves the rollback to a person', async () => {
    const { target, runtime, run } = await soaking();
    target.ill.add('1.1.0');
    target.failing.set('roll back to 1.0.0', 100);
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(run.compensations().map(({ stepId, outcome }) => `${stepId} ${outcome}`)).toEqual([
      'prepare failed',
      'lock compensated',
    ]);
    expect(target).toMatchObject({ version: '1.1.0', isLocked: false });
  });
});

describe('a deployment whose worker dies', () => {
  const POINTS = ['look-first', 'require-green', 'lock', 'prepare', 'release', 'check-health', 'unlock'];
  const MOMENTS = POINTS.flatMap((step) => [
    { step, moment: 'before' as const },
    { step, moment: 'after' as const },
  ]);

  test.each(MOMENTS)('$moment $step has the usual result', async ({ step, moment }) => {
    const target = new PretendedTarget('1.0.0');
    const runtime = createTestRuntime({ workflows: [deployTo(target)] });
    if (moment === 'before') runtime.crashBefore(step);
    else runtime.crashAfter(step);
    const run = await runtime.start('deploy', { ...INPUT, approval: false });
    await runtime.deliver({ event: 'ci.finished', key: SHA, data: { conclusion: 'success' } });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(target.acts).toEqual(['lock', 'release 1.1.0', 'unlock']);
    expectJournal(run.journal()).toHave('orphan_detected', 1);
    for (const other of POINTS.filter((id) => id !== step)) {
      // Concurrent steps of the dead process may have been interrupted too.
      expect(run.calls(other)).toBeLessThanOrEqual(
        other === 'look-first' || other === 'require-green' ? 2 : 1,
      );
    }
  });

  test.each([
    { step: 'prepare', moment: 'before' as const },
    { step: 'prepare', moment: 'after' as const },
    { step: 'lock', moment: 'before' as const },
    { step: 'lock', moment: 'after' as const },
  ])('$moment undoing $step undoes everything, in order', async ({ step, moment }) => {
    const { target, runtime, run } = await soaking();
    target.ill.add('1.1.0');
    if (moment === 'before') runtime.crashBefore(step, 'compensate');
    else runtime.crashAfter(step, 'compensate');
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(target.acts).toEqual(['lock', 'release 1.1.0', 'roll back to 1.0.0', 'unlock']);
    expectJournal(run.journal()).toHaveCompensated('prepare', 'lock').toHave('orphan_detected', 1);
  });
});
