/** Actions on a run: answers, replays, forks, signals and cancels. */
import { expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../../system/support.ts';
import { becomes } from '../support/becomes.ts';
import { SIZES } from '../support/sizes.ts';
import type { Stage } from '../support/stage.ts';

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly waits: readonly { readonly id: string }[];
}

interface Items {
  readonly items: readonly {
    readonly effectId: string;
    readonly status: string;
    readonly capabilityId: string;
  }[];
}

export function runActions(stage: Stage): void {
  async function start(type: string, input: object): Promise<string> {
    return (await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', { type, input })).runId;
  }

  const read = (id: string) => stage.cloud.call<Shown>('GET', `/v1/runs/${id}`);

  async function asks(id: string, wait: string): Promise<void> {
    await eventually(
      `run ${id} asks ${wait}`,
      async () => (await read(id)).waits.some((one) => one.id === wait) || undefined,
    );
  }

  async function hasEnded(id: string): Promise<void> {
    await eventually(`run ${id} to end`, async () => (await read(id)).status === 'completed' || undefined);
  }

  /** Starts a leaflet run, approves it, resolves its effect in doubt, and waits for its end. */
  async function printed(title: string): Promise<string> {
    const id = await start('leaflet', { title, copies: 1 });
    await asks(id, 'review.1');
    await stage.cloud.call('POST', `/v1/runs/${id}/approvals/review`, { decision: 'approve' });
    const effectId = await eventually('the effect to be asked about', async () => {
      const { items } = await stage.cloud.call<Items>('GET', `/v1/runs/${id}/effects`);
      return items.find(({ status }) => status === 'blocked')?.effectId;
    });
    const said = { outcome: 'recorded', result: { confirmed: 'seen' } };
    await stage.cloud.call('POST', `/v1/runs/${id}/effects/${effectId}/resolve`, said);
    await hasEnded(id);
    return id;
  }

  /** Returns true if no part of it is outside the window or needs scrolling. */
  const isWhole = (part: Locator) =>
    part.evaluate((one) => {
      const { left, right } = one.getBoundingClientRect();
      return left >= 0 && right <= window.innerWidth && one.scrollWidth <= one.clientWidth;
    });
  const dialog = (page: Page) => page.getByRole('dialog');
  const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();
  const send = (page: Page, verb: string) => dialog(page).getByRole('button', { name: verb, exact: true });
  const isGone = (page: Page) => dialog(page).waitFor({ state: 'detached' });

  test('a review is sent back, its drafts are compared, it is approved, and a side effect in doubt is resolved', async () => {
    const id = await start('leaflet', {
      title: 'Owls of the \u202Etown,\nand of the towers of its walls',
      copies: 3,
    });
    await asks(id, 'review.1');
    const page = await stage.browser.open(`/runs/${id}`);

    await press(page, 'Answer review');
    await dialog(page).getByText('Shall it be printed?').waitFor();
    const text = dialog(page).getByRole('definition');
    expect(await text.textContent()).toBe(
      'Owls of the ⟨U+202E⟩town,\nand of the towers of its walls, draft 1',
    );
    const { width, height } = page.viewportSize() ?? SIZES.desktop;
    await page.setViewportSize(SIZES.phone);
    expect(await isWhole(text)).toBe(true);
    await page.setViewportSize({ width, height });
    await page.getByRole('radio', { name: 'Send back' }).check();
    expect(await send(page, 'Send back').isDisabled()).toBe(true);
    await page.getByRole('textbox', { name: 'Feedback' }).fill('Say where they nest.');
    await page.getByRole('checkbox', { name: 'draft' }).check();
    await send(page, 'Send back').click();
    await isGone(page);

    await asks(id, 'review.2');
    // Each step that runs again shows why, also the review.
    const panel = page.getByRole('region', { name: 'The selected step' });
    const events = await stage.cloud.call<{ items: readonly { type: string; at: string; actor?: string }[] }>(
      'GET',
      `/v1/runs/${id}/events?limit=100`,
    );
    const given = events.items.find(({ type }) => type === 'feedback_given');
    for (const step of ['draft', 'review']) {
      await page.locator(`.graph button[data-step=${step}]`).click();
      const sentBack = panel.locator('.sent-back', { hasText: `Sent back by ${given?.actor}` });
      await sentBack.getByText('Say where they nest.').waitFor();
      await sentBack.locator(`time[datetime="${given?.at}"]`).waitFor();
    }
    await page.locator('.graph button[data-step=facts]').click();
    await panel.getByRole('heading', { name: 'facts' }).waitFor();
    await becomes(() => panel.locator('.sent-back').count(), 0);
    await page.getByRole('link', { name: 'Checkpoints' }).click();
    const drafts = page.locator('[data-row]', { hasText: 'draft' });
    await eventually('both drafts to be listed', async () =>
      (await drafts.count()) === 2 ? true : undefined,
    );
    await drafts.last().getByRole('button').click();
    await page.getByLabel('Compare with').selectOption({ label: 'revision 1 (5)' });
    const comparison = page.getByRole('region', { name: 'Comparison' });
    await comparison.getByRole('row', { name: /\$\.asked changed.*Say where they nest/ }).waitFor();
    await comparison.getByRole('row', { name: /\$\.text changed.*draft 1.*draft 2/ }).waitFor();

    await press(page, 'Answer review');
    await page.getByRole('radio', { name: 'Approve', exact: true }).check();
    await dialog(page).getByText('As a command').click();
    await dialog(page).getByText(`runs approve ${id} review --wait review.2`).waitFor();
    await send(page, 'Approve').click();
    await isGone(page);

    await press(page, 'Resolve the action of stamps');
    await dialog(page).getByRole('definition').getByText('Owls of the ⟨U+202E⟩town').waitFor();
    await page.getByLabel('Result, as JSON').fill('{"confirmed": yes}');
    await dialog(page).getByText('No JSON, line 1, column 15: expected a value, not yes').waitFor();
    expect(await send(page, 'Record the result').isDisabled()).toBe(true);
    await page.getByLabel('Result, as JSON').fill('{"confirmed": 7}');
    await send(page, 'Record the result').click();
    await dialog(page).getByRole('alert').getByText('INVALID_INPUT').waitFor();
    await page.getByLabel('Result, as JSON').fill('{"confirmed": "by phone"}');
    await page.getByRole('textbox', { name: /^Note/ }).fill('called them');
    await send(page, 'Record the result').click();
    await isGone(page);

    await hasEnded(id);
    await page.locator('.run-state [data-status="completed"]').waitFor();
    await page.getByRole('link', { name: 'Effects' }).click();
    await page.locator('[data-effect="executed"]').waitFor();
    await page
      .getByRole('row')
      .filter({ has: page.locator('[data-effect="executed"]') })
      .getByRole('button')
      .first()
      .click();
    await page.getByText('called them').waitFor();
  });

  test('a replay from a step does what its preview said, and repeats no side effect', async () => {
    const id = await printed('Herons');
    const page = await stage.browser.open(`/runs/${id}`);
    await press(page, 'Replay');
    await dialog(page).getByLabel('From').selectOption('step:stamps');
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.locator('[data-step="stamps"][data-action="runs"]').waitFor();
    await eventually('the preview to be of what is chosen', async () =>
      (await send(page, 'Start the replay').isEnabled()) ? true : undefined,
    );
    const foretold = await Promise.all(
      (await preview.locator('[data-step]').all()).map(async (row) => [
        await row.getAttribute('data-step'),
        await row.getAttribute('data-action'),
      ]),
    );
    await preview.getByText('answered as recorded').waitFor();
    expect(new URL(page.url()).searchParams.get('from')).toBe('step:stamps');
    await send(page, 'Start the replay').click();

    await page.waitForURL((url) => url.pathname.startsWith('/runs/') && !url.pathname.endsWith(id));
    expect(new URL(page.url()).search).toBe('');
    const successor = new URL(page.url()).pathname.slice('/runs/'.length);
    await hasEnded(successor);
    const { steps } = await stage.cloud.call<{ steps: { key: string; outcome: string }[] }>(
      'GET',
      `/v1/runs/${successor}/graph`,
    );
    expect(steps.map(({ key, outcome }) => [key, outcome === 'reused' ? 'reused' : 'runs']).sort()).toEqual(
      foretold.sort(),
    );
    const { items } = await stage.cloud.call<Items>('GET', `/v1/runs/${successor}/effects`);
    expect(items.map(({ status }) => status)).toEqual(['reused']);
    await page.goto(`/runs/${successor}?tab=checkpoints`);
    await page.locator('[data-row]', { hasText: 'post' }).getByRole('button').click();
    await page.getByLabel('Compare with').selectOption({ label: 'the same step of the source run' });
    await page.getByRole('region', { name: 'Comparison' }).getByText('Both are the same.').waitFor();
  });

  test('a fork with another input is previewed while typing, and not while the input is invalid JSON', async () => {
    const id = await printed('Storks');
    const page = await stage.browser.open(`/runs/${id}?do=fork`);
    await page.getByRole('checkbox', { name: 'Other input' }).check();
    const input = page.getByLabel('Input, as JSON');
    expect(JSON.parse(await input.inputValue())).toEqual({ title: 'Storks', copies: 1 });
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByText('5 reused · 0 to run').waitFor();
    await input.fill('{"title": "Storks", "copies": }');
    await dialog(page).getByText('line 1, column 31').waitFor();
    expect(await send(page, 'Start the fork').isDisabled()).toBe(true);
    await input.fill('{"title": "Storks", "copies": 2}');
    await preview.getByText('0 reused · 5 to run').waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).last().click();
    await isGone(page);
    expect(new URL(page.url()).search).toBe('');
  });

  test('a viewer sees the actions, and why they are disabled', async () => {
    const id = await start('leaflet', { title: 'Cranes', copies: 1 });
    await asks(id, 'review.1');
    const client = { name: 'who looks', role: 'viewer' };
    const { secret } = await stage.cloud.call<{ secret: string }>('POST', '/v1/clients', client);
    const page = await stage.browser.open(`/runs/${id}?tab=journal`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').fill(secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const answer = page.getByRole('button', { name: 'Answer review' });
    await answer.waitFor();
    expect(await answer.isDisabled()).toBe(true);
    expect(await answer.getAttribute('title')).toBe('This requires the role operator.');
    await page.getByText('Answer review, Suspend, Cancel: This requires the role operator.').waitFor();
    await page.getByText('Signal, Run again: This requires the role submitter.').waitFor();
    expect(await page.getByRole('button', { name: 'Check the chain' }).isDisabled()).toBe(true);
  });

  test('a run gets the signal it waits for; another is cancelled, and its journal is complete', async () => {
    const waiting = await start('awaiting', { key: 'k-7' });
    const page = await stage.browser.open(`/runs/${waiting}`);
    await press(page, 'Send “sent”');
    expect(await page.getByLabel('Key: which event of that name (optional)').inputValue()).toBe('k-7');
    await page.getByLabel('Data, as JSON').fill('[1,2');
    await dialog(page).getByText('it ends too early').waitFor();
    expect(await send(page, 'Send the signal').isDisabled()).toBe(true);
    await page.getByLabel('Data, as JSON').fill('"four"');
    await send(page, 'Send the signal').click();
    await isGone(page);
    await hasEnded(waiting);

    const id = await start('awaiting', { key: 'k-8' });
    await page.goto(`/runs/${id}?tab=journal`);
    await press(page, 'Cancel');
    await page.getByRole('textbox', { name: /^Reason/ }).fill('no longer needed');
    await send(page, 'Cancel the run').click();
    await isGone(page);
    await page
      .locator('[data-row]', { hasText: 'run_cancelled' })

      .locator('[data-status="cancelled"]')
      .waitFor();
    await page.getByLabel('Type').selectOption('cancel_requested');
    await page
      .getByRole('status')
      .getByText(/^1 of \d+ events$/)
      .waitFor();
    await page.locator('[data-row]').getByRole('button').click();
    await page.getByRole('treeitem', { name: /reason.*no longer needed/ }).waitFor();
    expect(new URL(page.url()).searchParams.get('seq')).toMatch(/^\d+$/);
    await press(page, 'Check the chain');
    await page.getByText(/Checked: whole, \d+ events/).waitFor();
  });

  test('a run that somebody else has resumed links to the run that continues it', async () => {
    const id = await start('undoing', { order: 'two-windows' });
    await eventually('the run to fail', async () => (await read(id)).status === 'failed' || undefined);
    const page = await stage.browser.open(`/runs/${id}`);
    await page.getByText(/, then resume the run\./).waitFor();
    await page.getByRole('button', { name: 'Fork' }).and(page.getByTitle('another version')).waitFor();
    await press(page, 'Resume');
    // The other resume comes between the click and its request, so that the page cannot know of it.
    const path = `/v1/runs/${id}/resume`;
    const other = Promise.withResolvers<string>();
    await page.route(`**${path}`, async (route) => {
      const { runId } = await stage.cloud.call<{ runId: string }>('POST', path, {});
      other.resolve(runId);
      await route.continue();
    });
    await send(page, 'Start the resume').click();
    const runId = await other.promise;
    await dialog(page).getByRole('status').getByRole('link', { name: runId }).waitFor();
    expect(await send(page, 'Start the resume').isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await page.locator('.run-error').getByRole('link', { name: runId }).waitFor();
    expect(await page.getByText(/, then resume the run\./).count()).toBe(0);
    const topOf = async (name: string) => (await page.getByRole('button', { name }).boundingBox())?.y;
    expect(await topOf('Run again')).toBe(await topOf('Replay'));
  });

  test('a list of 100,000 items and a text of a megabyte are shown in pieces', async () => {
    const id = await start('large', { items: 100_000, letters: 1_000_000 });
    await hasEnded(id);
    const page = await stage.browser.open(`/runs/${id}?tab=checkpoints&checkpoint=4`);
    await press(page, /^Show the output \(\d\.\d MB\)$/);
    const tree = page.getByRole('tree', { name: 'Output at checkpoint 4' });
    await tree.getByRole('treeitem', { name: /list: \[ 100,000 items \]/ }).click();
    await page.getByLabel('Search in the value').fill('99999');
    await page.getByText('1 found').waitFor();
    await page.getByLabel('Search in the value').press('Enter');
    await page.getByText('$.list[99999].at').waitFor();
    expect(await tree.getByRole('treeitem').count()).toBeLessThan(60);
    await page.getByRole('button', { name: 'Close all' }).click();
    await tree.getByRole('treeitem', { name: /^text/ }).click();
    await press(page, 'show all (1.0 MB)');
    await page.getByRole('region', { name: 'The whole text' }).waitFor();
  });
}
