/** Forms survive an expired key and the browser's Back. On the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import type { Locator, Page, Route } from 'playwright-core';
import { becomes } from '../support/becomes.ts';
import { show, stage } from './showcase-stage.ts';

interface Client {
  readonly secret: string;
}
const clientOf = (role: string) =>
  stage.cloud.call<Client>('POST', '/v1/clients', { name: `a ${role}`, role });

async function openAs({ secret }: Client, path: string): Promise<Page> {
  const page = await stage.browser.open(path);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('API key').fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.who').waitFor();
  return page;
}

test('a form survives the expiry of the key, and is sent with the next key', async () => {
  const [old, next] = [await clientOf('operator'), await clientOf('operator')];
  const page = await openAs(old, '/workflows/echo');
  await page.getByRole('button', { name: 'Start a run' }).click();
  const form = page.getByRole('dialog', { name: /^Start/ });
  const text = form.getByRole('textbox', { name: 'text' });
  await text.fill('half filled');
  // The form's request is the first that the API refuses.
  const again = await expire(page, form.getByRole('button', { name: 'Start', exact: true }));
  await again.getByText('no longer accepted').waitFor();
  // Escape does not close the form below the sign-in.
  for (const _ of [1, 2]) await page.keyboard.press('Escape');
  await again.getByLabel('API key').fill(old.secret);
  await again.getByRole('button', { name: 'Sign in' }).click();
  await again.getByRole('alert').getByText('Check that the key was copied completely').waitFor();
  await page.unrouteAll();
  await again.getByLabel('API key').fill(next.secret);
  await again.getByRole('button', { name: 'Sign in' }).click();
  await again.waitFor({ state: 'detached' });

  await form.getByRole('alert').getByText('Send it again once you are signed in.').waitFor();
  expect(await text.inputValue()).toBe('half filled');
  await form.getByRole('button', { name: 'Start', exact: true }).click();
  await page.waitForURL('**/runs/run_*');
  await page.getByText('"half filled"').first().waitFor();
});

test('Escape asks before it discards a text, and not before a choice', async () => {
  const page = await stage.browser.open('/workflows/gift');
  const form = page.getByRole('dialog', { name: /^Start/ });
  const to = form.getByRole('textbox', { name: 'to' });
  const held = form.getByText('The form is still open, with what you typed. Escape once more discards it.');
  await page.getByRole('button', { name: 'Start a run' }).click();
  await to.fill('a long address');
  await page.keyboard.press('Escape');
  await held.waitFor();
  expect(await to.inputValue()).toBe('a long address');
  // Typing on is an answer: the next Escape asks again.
  await to.pressSequentially('!');
  await held.waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await held.waitFor();
  await page.keyboard.press('Escape');
  await form.waitFor({ state: 'detached' });

  await page.goto('/runs');
  await page.getByRole('button', { name: 'Start a run' }).click();
  await form.getByRole('combobox').first().selectOption('gift');
  await to.waitFor();
  await page.keyboard.press('Escape');
  await form.waitFor({ state: 'detached' });
});

test('a form that is sent forgets that Escape was pressed', async () => {
  const page = await stage.browser.open('/workflows/echo');
  const form = page.getByRole('dialog', { name: /^Start/ });
  const held = form.getByText('Escape once more discards it.');
  await page.getByRole('button', { name: 'Start a run' }).click();
  await form.getByRole('textbox', { name: 'text' }).fill('a long text');
  await page.keyboard.press('Escape');
  await held.waitFor();
  const sent = Promise.withResolvers<Route>();
  await page.route('**/v1/runs', (route) => sent.resolve(route));
  await form.getByRole('button', { name: 'Start', exact: true }).click();
  const request = await sent.promise;
  await held.waitFor({ state: 'detached' });
  await request.abort();
  await page.unrouteAll();
});

test('a page whose key expired follows its run again after the next sign-in', async () => {
  const [old, next] = [await clientOf('operator'), await clientOf('operator')];
  const { runId } = await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', {
    type: 'refund',
    input: { order: 'K-1' },
  });
  const page = await openAs(old, `/runs/${runId}`);
  await page.locator('.live-mark', { hasText: /^updates live$/ }).waitFor();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByRole('textbox', { name: /^Reason/ }).fill('not sent');
  const again = await expire(page, page.locator('dialog button[type=submit]'));
  await page.unrouteAll();
  await again.getByLabel('API key').fill(next.secret);
  await again.getByRole('button', { name: 'Sign in' }).click();
  await again.waitFor({ state: 'detached' });
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).first().click();
  await stage.cloud.call('POST', `/v1/runs/${runId}/cancel`, { reason: 'by another' });
  await page.locator('.run-status [data-status=cancelled]').waitFor();
});

test('a person with a lower role than the one before gets a new page', async () => {
  const [old, less] = [await clientOf('operator'), await clientOf('viewer')];
  const page = await openAs(old, '/workflows/echo');
  await page.getByRole('button', { name: 'Start a run' }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'text' }).fill('of another');
  const again = await expire(page, page.locator('dialog button[type=submit]'));
  await page.unrouteAll();
  await again.getByLabel('API key').fill(less.secret);
  await again.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.who', { hasText: 'viewer' }).waitFor();
  await becomes(() => page.getByRole('dialog').count(), 0);
});

test('the page signs in by itself after a local cloud was restarted with another key', async () => {
  const { secret } = await clientOf('installation');
  const page = await stage.browser.open('/workflows/echo');
  await page.getByRole('button', { name: 'Start a run' }).click();
  const text = page.getByRole('dialog').getByRole('textbox', { name: 'text' });
  await text.fill('half filled');
  const problem = { title: 'Unauthorized', status: 401, code: 'UNAUTHENTICATED' };
  await page.route('**/v1/**', (route) =>
    route.request().headers().authorization === `Bearer ${secret}`
      ? route.continue()
      : route.fulfill({ status: 401, json: problem }),
  );
  await page.route('**/console.json', (route) => route.fulfill({ json: { local: true, apiKey: secret } }));
  const again = page.waitForResponse((one) => one.url().endsWith('/v1/me') && one.ok());
  await page.getByRole('dialog').getByRole('button', { name: 'Start', exact: true }).click();
  await again;
  await page.getByRole('alert').getByText('Send it again once you are signed in.').waitFor();
  expect(await text.inputValue()).toBe('half filled');
  await page.getByRole('dialog').getByRole('button', { name: 'Start', exact: true }).click();
  await page.waitForURL('**/runs/run_*');
});

test('a person who typed a key is asked for one after the local cloud was restarted with another key', async () => {
  const [viewer, { secret }] = [await clientOf('viewer'), await clientOf('installation')];
  const page = await openAs(viewer, '/workflows/echo');
  await page.route('**/console.json', (route) => route.fulfill({ json: { local: true, apiKey: secret } }));
  const again = await expire(page, page.getByRole('link', { name: 'Schedules', exact: true }));
  await page.unroute('**/v1/**');
  expect(await page.locator('.who').textContent()).toContain('viewer');
  await again.getByRole('button', { name: 'Use the development key' }).click();
  await again.waitFor({ state: 'detached' });
  await becomes(() => page.locator('.who').textContent(), 'local cloud · installation');
});

test('the new key survives a late refusal of the old one', async () => {
  const [old, next] = [await clientOf('viewer'), await clientOf('viewer')];
  const page = await openAs(old, '/inbox');
  const json = { title: 'Unauthorized', status: 401, code: 'UNAUTHENTICATED' };
  const late = Promise.withResolvers<Route>();
  const checking = Promise.withResolvers<Route>();
  let isChecked = false;
  // One read is held until the new key is being checked; all others are refused at once.
  await page.route('**/v1/**', (route) => {
    if (route.request().headers().authorization === `Bearer ${next.secret}`)
      return isChecked ? route.continue() : checking.resolve(route);
    if (route.request().url().includes('/v1/runs/statistics')) return late.resolve(route);
    return route.fulfill({ status: 401, json });
  });
  // The dialog covers the link if another read of the page was refused before.
  await page.getByRole('link', { name: 'Health', exact: true }).dispatchEvent('click');
  const held = await late.promise;
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.getByLabel('API key').fill(next.secret);
  await again.getByRole('button', { name: 'Sign in' }).click();
  const check = await checking.promise;
  const refused = page.waitForResponse((one) => one.url() === held.request().url());
  await held.fulfill({ status: 401, json });
  await refused;
  isChecked = true;
  await check.continue();
  await again.waitFor({ state: 'detached' });
  await page.reload();
  await becomes(() => page.locator('.who').textContent(), expect.stringContaining('viewer'));
});

const FORMS = [
  { of: '/schedules', opener: 'New schedule', field: /^Name/ },
  { of: '/workflows/echo', opener: 'Start a run', field: 'text' },
] as const;

test.each(FORMS)('Back does not leave a form of $of with typed text', async ({ of, opener, field }) => {
  const page = await stage.browser.open('/health');
  await page.getByRole('link', { name: 'Workflows', exact: true }).click();
  if (of.startsWith('/workflows/'))
    await page.getByRole('link', { name: 'echo', exact: true }).first().click();
  else await page.getByRole('link', { name: 'Schedules', exact: true }).click();
  await page.waitForURL(`**${of}`);
  const dialog = page.getByRole('dialog');
  const at = async () => new URL(page.url()).pathname;
  // Back closes an empty form.
  await page.getByRole('button', { name: opener }).click();
  await dialog.waitFor();
  await pressBack(page);
  await dialog.waitFor({ state: 'detached' });
  expect(await at()).toBe(of);

  await page.getByRole('button', { name: opener }).click();
  await dialog.getByRole('textbox', { name: field }).fill('half filled');
  await pressBack(page);
  await dialog.getByText('The form is still open').waitFor();
  expect(await at()).toBe(of);
  expect(await dialog.getByRole('textbox', { name: field }).inputValue()).toBe('half filled');
  await pressBack(page);
  await becomes(at, '/workflows');
});

test('Back does not leave an answer in the inbox with typed text', async () => {
  const page = await stage.browser.open('/health');
  await page.getByRole('link', { name: /^Inbox/ }).click();
  const card = page.locator('li.card', { has: page.locator(`a[href="/runs/${show.asking}"]`) });
  await card.getByRole('button', { name: 'Reject', exact: true }).click();
  const note = page.getByRole('dialog').getByRole('textbox').first();
  await note.fill('because');
  await pressBack(page);
  await page.getByRole('dialog').getByText('The form is still open').waitFor();
  expect(await note.inputValue()).toBe('because');
});

test('text typed into a form stays while the page below is due to be drawn again', async () => {
  const page = await stage.browser.open('/inbox', { prepare: (one) => one.addInitScript(holdDrawing) });
  const card = page.locator('li.card', { has: page.locator(`a[href="/runs/${show.asking}"]`) });
  const reject = card.getByRole('button', { name: 'Reject', exact: true });
  await reject.hover();
  await page.evaluate(() => window.drawing?.hold());
  await reject.click();
  const note = page.getByRole('dialog').getByRole('textbox').first();
  await note.focus();
  // The list is due to be drawn again, because the mouse has left it.
  await page.mouse.move(1, 1);
  await becomes(() => page.evaluate(() => window.drawing?.isDue), true);
  await page.keyboard.insertText('because');
  expect(await note.inputValue()).toBe('because');
  await page.evaluate(() => window.drawing?.release());
});

test('a form that got no answer says when to send it again, and takes effect once', async () => {
  const page = await stage.browser.open('/workflows/echo');
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Start a run' }).click();
  await dialog.getByRole('textbox', { name: 'text' }).fill('sent twice');
  const keys: (string | undefined)[] = [];
  page.on('request', (one) => one.method() === 'POST' && keys.push(one.headers()['idempotency-key']));
  await page.route('**/v1/**', (route) => route.abort());
  const send = dialog.getByRole('button', { name: 'Start', exact: true });
  await send.click();
  await dialog.getByText('The API does not respond').waitFor();
  await page.unrouteAll();
  await dialog.getByText('The API responds again.').waitFor();
  await dialog.getByText('The API does not respond').waitFor({ state: 'detached' });
  await send.click();
  await page.waitForURL('**/runs/run_*');
  expect(new Set(keys).size).toBe(1);
});

test('a form that got no answer does not promise the next person that it takes effect once', async () => {
  const [old, next] = [await clientOf('operator'), await clientOf('operator')];
  const page = await openAs(old, '/workflows/echo');
  const dialog = page.getByRole('dialog', { name: /^Start/ });
  await page.getByRole('button', { name: 'Start a run' }).click();
  await dialog.getByRole('textbox', { name: 'text' }).fill('sent by another');
  await page.route('**/v1/**', (route) => route.abort());
  await dialog.getByRole('button', { name: 'Start', exact: true }).click();
  await dialog.getByText('The API does not respond').waitFor();
  // The page polls until it gets an answer.
  const again = await expire(page);
  await page.unrouteAll();
  await again.getByLabel('API key').fill(next.secret);
  await again.getByRole('button', { name: 'Sign in' }).click();
  await again.waitFor({ state: 'detached' });
  await dialog.getByText('you are signed in as somebody else since').waitFor();
  expect(await dialog.getByText('it takes effect once').count()).toBe(0);
});

test('the check of a bulk change continues after the next sign-in', async () => {
  const page = await stage.browser.open('/runs?status=awaiting_approval');
  const again = await expire(page, page.getByRole('button', { name: 'Cancel all…' }), '**/v1/runs/bulk');
  await page.unrouteAll();
  await again.getByRole('button', { name: 'Use the development key' }).click();
  await again.waitFor({ state: 'detached' });
  await page
    .getByRole('dialog')
    .getByText(/^[1-9]\d* runs? will be cancelled\./)
    .waitFor();
});

/** Makes the API refuse all keys, and waits for the sign-in. @param sends button or link that sends a request; default: wait for a poll */
async function expire(page: Page, sends?: Locator, of = '**/v1/**') {
  await sends?.click({ trial: true });
  const problem = { title: 'Unauthorized', status: 401, code: 'UNAUTHENTICATED' };
  await page.route(of, (route) => route.fulfill({ status: 401, json: problem }));
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  // A poll may be refused first, and then the sign-in covers the button.
  await sends?.dispatchEvent('click');
  await again.waitFor();
  return again;
}

test('the first Back under the sign-in keeps the form of the address, the second discards it', async () => {
  const page = await stage.browser.open(`/runs/${show.asking}`);
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  const reason = page.locator('dialog').getByLabel(/^Reason/);
  await reason.fill('half filled');
  const again = await expire(page, page.locator('dialog button[type=submit]'));
  await pressBack(page);
  await again.getByText('The page is still open, with what you typed.').waitFor();
  expect(await reason.inputValue()).toBe('half filled');
  await pressBack(page);
  await reason.waitFor({ state: 'detached' });
  expect(await again.count()).toBe(1);
});

test('the first Back under the sign-in stays on the page with its form, the second leaves it', async () => {
  const page = await stage.browser.open('/workflows');
  await page.getByRole('link', { name: 'echo', exact: true }).first().click();
  await page.waitForURL('**/workflows/echo');
  await page.getByRole('button', { name: 'Start a run' }).click();
  const text = page.locator('dialog').getByLabel('text', { exact: true });
  await text.fill('half filled');
  const again = await expire(page, page.locator('dialog button[type=submit]'));
  await pressBack(page);
  await again.getByText('The page is still open, with what you typed.').waitFor();
  expect(await text.inputValue()).toBe('half filled');
  await pressBack(page);
  await becomes(async () => new URL(page.url()).pathname, '/workflows');
});

/** Presses the browser's Back. `page.goBack` would wait for a navigation that the page may prevent. */
async function pressBack(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { currentIndex, entries } = await session.send('Page.getNavigationHistory');
  const before = entries[currentIndex - 1];
  if (!before) throw new Error('there is no page before this one');
  await session.send('Page.navigateToHistoryEntry', { entryId: before.id });
  await session.detach();
}

declare global {
  interface Window {
    drawing?: { readonly isDue: boolean; hold(): void; release(): void };
  }
}

/** Runs in the page. Lets a test delay React's drawing, which React schedules by a message to itself. */
function holdDrawing(): void {
  const { postMessage } = MessagePort.prototype;
  let held: (() => void)[] | undefined;
  MessagePort.prototype.postMessage = function (this: MessagePort, ...args: Parameters<typeof postMessage>) {
    const post = () => postMessage.apply(this, args);
    if (held) held.push(post);
    else post();
  } as typeof postMessage;
  window.drawing = {
    get isDue() {
      return held !== undefined && held.length > 0;
    },
    hold() {
      held = [];
    },
    release() {
      const due = held ?? [];
      held = undefined;
      for (const post of due) post();
    },
  };
}
