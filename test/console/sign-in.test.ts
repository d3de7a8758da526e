import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, test } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import { becomes } from './support/becomes.ts';
import { setStage } from './support/stage.ts';

const IDENTITY = 'https://identitytoolkit.googleapis.com';
const TOKENS = 'https://securetoken.googleapis.com';

let emulator: Server;
const stage = setStage(async () => {
  // Stands in for the Firebase Auth emulator, with which the functions accept unsigned tokens, and ask it whether the
  // account still exists.
  emulator = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ users: [{ localId: 'anna' }] }));
  });
  await new Promise<void>((resolve) => emulator.listen(0, '127.0.0.1', resolve));
  const { port } = emulator.address() as AddressInfo;
  return { env: { FIREBASE_AUTH_EMULATOR_HOST: `127.0.0.1:${port}` } };
});
afterAll(() => void emulator?.close());

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Makes an unsigned token, as the emulator does. */
function idToken(claims: object): string {
  const now = Math.floor(Date.now() / 1_000);
  const about = { sub: 'anna', user_id: 'anna', auth_time: now, iat: now, exp: now + 3_600 };
  const issued = { iss: 'https://securetoken.google.com/demo-cairn', aud: 'demo-cairn' };
  return `${part({ alg: 'none', typ: 'JWT' })}.${part({ ...about, ...issued, ...claims })}.`;
}

/** Serves a page like Hosting in a project with one user, whose account has these claims. */
function asDeployed(claims: object) {
  const json = (route: Route, body: object, status = 200) =>
    route.fulfill({
      status,
      contentType: 'application/json',
      headers: { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' },
      body: JSON.stringify(body),
    });
  return async (page: Page) => {
    await page.route('**/console.json', (route) => json(route, { local: false }));
    await page.route('**/__/firebase/init.json', (route) =>
      json(route, { apiKey: 'public', projectId: 'demo-cairn' }),
    );
    await page.route(`${IDENTITY}/**`, (route) => {
      const url = route.request().url();
      if (route.request().method() === 'OPTIONS') return json(route, {});
      if (url.includes('accounts:lookup'))
        return json(route, { users: [{ localId: 'anna', email: 'anna@example.com' }] });
      const { password } = route.request().postDataJSON() as { password: string };
      if (password !== 'right')
        return json(route, { error: { message: 'INVALID_LOGIN_CREDENTIALS', code: 400 } }, 400);
      return json(route, {
        idToken: idToken(claims),
        refreshToken: 'refresh',
        expiresIn: '3600',
        localId: 'anna',
        email: 'anna@example.com',
      });
    });
  };
}

const allowed = [IDENTITY, TOKENS];
const signIn = async (page: Page, password: string) => {
  await page.getByLabel('E-mail').fill('anna@example.com');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in with e-mail' }).click();
};

test('a Firebase user signs in with the role of the account, stays signed in over a reload, and signs out', async () => {
  const prepare = asDeployed({ tenant: 'local', role: 'operator' });
  const page = await stage.browser.open('/health', { prepare, allowed });
  await signIn(page, 'wrong');
  await page.getByRole('alert').getByText('The e-mail address or the password is wrong.').waitFor();
  await signIn(page, 'right');
  await page.getByRole('heading', { name: 'Health' }).waitFor();
  await becomes(() => page.locator('.who').textContent(), 'local · operator');
  await page.reload();
  await page.getByRole('heading', { name: 'Health' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('E-mail').waitFor();
  await page.reload();
  await page.getByLabel('E-mail').waitFor();
});

test('an account without a tenant or role is refused with advice', async () => {
  const page = await stage.browser.open('/', { prepare: asDeployed({}), allowed });
  await signIn(page, 'right');
  const alert = page.getByRole('alert');
  await alert.getByText('Ask an administrator to set the claims').waitFor();
  await alert.getByText('FORBIDDEN').waitFor();
});
