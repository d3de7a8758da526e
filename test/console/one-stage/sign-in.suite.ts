/** The sign-in, and pages with a missing file or answer. */
import { expect, test } from '@jest/globals';
import { becomes } from '../support/becomes.ts';
import type { Stage } from '../support/stage.ts';

export function signIn(stage: Stage): void {
  test('on the local cloud the console is open at once, with the development key', async () => {
    const page = await stage.browser.open('/');
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/runs');
    await becomes(() => page.locator('.who').textContent(), 'local cloud · installation');
  });

  test('an invalid key is refused, and a valid one signs in with its role', async () => {
    const { secret } = await stage.cloud.call<{ secret: string }>('POST', '/v1/clients', {
      name: 'who looks',
      role: 'viewer',
    });
    const page = await stage.browser.open('/inbox');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').fill('cairn_nobody_0123456789abcdef');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('UNAUTHENTICATED').waitFor();
    // The API's own message is for programs: it names the header.
    await page.getByRole('alert').getByText('Check that the key was copied completely').waitFor();
    expect(await page.getByRole('alert').textContent()).not.toContain('Authorization');
    await page.getByLabel('API key').fill(secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await becomes(() => page.locator('.who').textContent(), expect.stringContaining('viewer'));
  });

  test('a page whose chunk is missing, as after a deployment, says so and can be reloaded', async () => {
    const page = await stage.browser.open('/inbox');
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page.route('**/assets/**', (route) => route.fulfill({ status: 404 }));
    await page.getByRole('link', { name: 'Health', exact: true }).click();
    await page.getByRole('alert').getByText('This page cannot be shown').waitFor();
    await page.getByRole('link', { name: 'Inbox' }).click();
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page.getByRole('link', { name: 'Health', exact: true }).click();
    await page.unroute('**/assets/**');
    await page.getByRole('button', { name: 'Load again' }).click();
    await page.getByRole('heading', { name: 'Health', exact: true }).waitFor();
    // The browser's console names the file.
    await expect(stage.browser.settle()).rejects.toThrow(/\/assets\/[\w-]+\.(js|css)/);
  });

  test('an unreachable API is reported on every page, and data is reread when it responds again', async () => {
    const page = await stage.browser.open('/runs');
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    await page.route('**/v1/**', (route) => route.abort());
    await page.getByRole('link', { name: 'Schedules' }).click();
    await page.getByText(/The API has not responded for/).waitFor();
    await page.unroute('**/v1/**');
    await page.getByText(/The API has not responded for/).waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'No schedules yet' }).waitFor();
  });

  test('a page that could not be loaded while the API was unreachable is loaded when it responds again', async () => {
    const page = await stage.browser.open('/inbox');
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    for (const gone of ['**/assets/**', '**/v1/**']) await page.route(gone, (route) => route.abort());
    await page.getByText(/The API has not responded for/).waitFor();
    await page.getByRole('link', { name: 'Health', exact: true }).click();
    await page.getByRole('alert').getByText('It is reloaded as soon as the API responds.').waitFor();
    await page.unrouteAll();
    await page.getByRole('heading', { name: 'Health', exact: true }).waitFor();
    // The browser's console names the file.
    await expect(stage.browser.settle()).rejects.toThrow(/\/assets\/[\w-]+\.(js|css)/);
  });

  test('a page keeps its policy: no other origins, no frames', async () => {
    const answer = await fetch(`${stage.cloud.ready.gateway}/runs`);
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
  });

  test.each([
    ['another origin', { 'sec-fetch-site': 'cross-site' }],
    ['a name that leads here', { host: 'evil.example' }],
  ])('the development key is not told to a page of %s', async (_, headers) => {
    const { request } = await import('node:http');
    const status = await new Promise((resolve, reject) => {
      request(`${stage.cloud.ready.gateway}/console.json`, { headers }, (answer) =>
        resolve(answer.resume().statusCode),
      )
        .on('error', reject)
        .end();
    });
    expect(status).toBe(403);
  });
}
