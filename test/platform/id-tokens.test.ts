import { createSign, generateKeyPairSync } from 'node:crypto';
import { Agent, createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { firebaseIdTokens, noIdTokens } from '../../packages/cairn/src/platform/id-tokens.ts';

const PROJECT = 'demo-cairn';
const KEYS = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const FOREIGN = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const PUBLIC = KEYS.publicKey.export({ type: 'spki', format: 'pem' });

/** Responds in place of the provider, on loopback, for any host that the library requests. */
class Redirect extends Agent {
  readonly #port: () => number;
  constructor(port: () => number) {
    super();
    this.#port = port;
    Object.assign(this, { protocol: 'https:' });
  }
  override createConnection() {
    return connect(this.#port(), '127.0.0.1');
  }
}

let server: Server;
let fetches = 0;
let port = 0;
beforeAll(async () => {
  server = createServer((_request, response) => {
    fetches += 1;
    response.setHeader('content-type', 'application/json');
    response.setHeader('cache-control', 'max-age=3600');
    response.end(JSON.stringify({ one: PUBLIC }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as { port: number }).port;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const now = () => Math.floor(Date.now() / 1_000);
const claims = () => ({
  iss: `https://securetoken.google.com/${PROJECT}`,
  aud: PROJECT,
  sub: 'anna',
  iat: now() - 10,
  exp: now() + 3_600,
  tenant: 'acme',
  role: 'operator',
});
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

function token({
  header = {},
  payload = {},
  key = KEYS.privateKey,
}: {
  header?: object;
  payload?: object;
  key?: typeof KEYS.privateKey;
}) {
  const text = `${part({ alg: 'RS256', kid: 'one', typ: 'JWT', ...header })}.${part({ ...claims(), ...payload })}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(key, 'base64url')}`;
}

describe('an ID token', () => {
  const tokens = firebaseIdTokens({ project: PROJECT, agent: new Redirect(() => port) });

  test('signed by the provider for this project has the user and the role', async () => {
    const verified = await tokens.verify(token({}));
    expect(verified).toMatchObject({ uid: 'anna', claims: { tenant: 'acme', role: 'operator' } });
    expect(fetches).toBe(1);
  });

  test.each([
    ['signed by another', () => token({ key: FOREIGN.privateKey })],
    ['of an unknown key', () => token({ header: { kid: 'two' } })],
    ['without a key id', () => token({ header: { kid: undefined } })],
    ['that is unsigned', () => `${part({ alg: 'none', kid: 'one' })}.${part(claims())}.`],
    ['that says it is unsigned', () => token({ header: { alg: 'none' } })],
    ['signed with the public key as a secret', () => token({ header: { alg: 'HS256' } })],
    ['of another project', () => token({ payload: { aud: 'other' } })],
    ['of another issuer', () => token({ payload: { iss: 'https://accounts.google.com' } })],
    ['that expired', () => token({ payload: { exp: now() - 1 } })],
    ['of nobody', () => token({ payload: { sub: '' } })],
    ['that is none', () => 'a.b.c'],
    ['that was changed', () => token({}).replace(/\.[^.]+\./, `.${part({ ...claims(), role: 'admin' })}.`)],
  ])('%s is not valid', async (_what, make) => {
    expect(await tokens.verify(make())).toBeUndefined();
  });

  test('is undecided while the provider is unreachable, and decided afterwards', async () => {
    let to = 1;
    const cut = firebaseIdTokens({ project: PROJECT, agent: new Redirect(() => to) });
    await expect(cut.verify(token({}))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    to = port;
    expect(await cut.verify(token({}))).toMatchObject({ uid: 'anna' });
  });

  test('is never accepted if the emulator is configured outside the local cloud', async () => {
    expect(await noIdTokens.verify(token({}))).toBeUndefined();
  });
});
