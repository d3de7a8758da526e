import { describe, expect, test } from '@jest/globals';
import { connect } from '../../../packages/cli/src/api/connection.ts';
import { listening, type StageOptions } from '../support/stage.ts';

const NOTHING = { url: undefined, 'key-file': undefined, local: undefined };
const LOCAL = JSON.stringify({ gateway: 'http://127.0.0.1:8080', apiKey: 'cairn_dev_x' });

function connection(wanted: Partial<typeof NOTHING | Record<string, string>>, options: StageOptions) {
  return connect({ ...NOTHING, ...wanted }, listening(options));
}

describe('connection and credentials', () => {
  test.each([
    [
      'the local cloud that runs here',
      {},
      { files: { '/project/.cairn/address.json': LOCAL } },
      'http://127.0.0.1:8080',
      'cairn_dev_x',
    ],
    [
      'the local cloud of a directory',
      { local: 'd' },
      { files: { '/home/ada/d/address.json': LOCAL } },
      'http://127.0.0.1:8080',
      'cairn_dev_x',
    ],
    [
      'a named directory takes precedence over the environment',
      { local: '/d' },
      { env: { CAIRN_URL: 'https://a.test' }, files: { '/d/address.json': LOCAL } },
      'http://127.0.0.1:8080',
      'cairn_dev_x',
    ],
    [
      'the environment',
      {},
      { env: { CAIRN_URL: 'https://a.test/', CAIRN_API_KEY: ' k ' } },
      'https://a.test',
      'k',
    ],
    [
      'options take precedence',
      { url: 'https://b.test', 'key-file': 'key' },
      { env: { CAIRN_URL: 'https://a.test', CAIRN_API_KEY: 'k' }, files: { '/home/ada/key': 'from-file\n' } },
      'https://b.test',
      'from-file',
    ],
    [
      'the address of the local cloud needs no key',
      { url: 'http://127.0.0.1:8080' },
      { files: { '/project/.cairn/address.json': LOCAL } },
      'http://127.0.0.1:8080',
      'cairn_dev_x',
    ],
    [
      'another key for the local cloud',
      {},
      { env: { CAIRN_API_KEY: 'viewer' }, files: { '/project/.cairn/address.json': LOCAL } },
      'http://127.0.0.1:8080',
      'viewer',
    ],
    [
      'a function below a path',
      { url: 'https://us-central1-shop.cloudfunctions.net/cairn-api/' },
      { env: { CAIRN_API_KEY: 'k' } },
      'https://us-central1-shop.cloudfunctions.net/cairn-api',
      'k',
    ],
    [
      'unencrypted on this machine',
      { url: 'http://localhost:1' },
      { env: { CAIRN_API_KEY: 'k' } },
      'http://localhost:1',
      'k',
    ],
  ])('%s', (_, wanted, options, url, apiKey) => {
    expect(connection(wanted, options as StageOptions)).toEqual({ url, apiKey });
  });

  test.each([
    ['nothing at all', {}, {}, 'no local cloud is running on /project/.cairn'],
    ['a directory without a cloud', { local: 'd' }, {}, 'no local cloud is running on /home/ada/d'],
    [
      'an invalid address file',
      {},
      { files: { '/project/.cairn/address.json': '{}' } },
      'no local cloud is running',
    ],
    ['no key', { url: 'https://a.test' }, {}, 'no API key for https://a.test'],
    [
      'the key of the local cloud is not sent to another address',
      { url: 'https://a.test' },
      { files: { '/project/.cairn/address.json': LOCAL } },
      'no API key for https://a.test',
    ],
    [
      'a key over a network without encryption',
      { url: 'http://a.test' },
      { env: { CAIRN_API_KEY: 'k' } },
      'unencrypted',
    ],
    ['no address', { url: 'a.test' }, { env: { CAIRN_API_KEY: 'k' } }, 'is not an address'],
    ['a query', { url: 'https://a.test/f?x' }, { env: { CAIRN_API_KEY: 'k' } }, 'Use https://a.test/f.'],
    [
      'a path of the API',
      { url: 'https://a.test/v1/runs' },
      { env: { CAIRN_API_KEY: 'k' } },
      'Use https://a.test.',
    ],
    ['a key file that is not there', { url: 'https://a.test', 'key-file': 'x' }, {}, 'cannot be read'],
    [
      'a key file with more',
      { url: 'https://a.test', 'key-file': '/k' },
      { files: { '/k': 'KEY=a b' } },
      'one API key',
    ],
  ])('refused: %s', (_, wanted, options, message) => {
    const refusal = (() => {
      try {
        connection(wanted, options as StageOptions);
      } catch (error) {
        const { message: said, help } = error as Error & { help?: string };
        return `${said} ${help ?? ''}`;
      }
      return 'nothing was refused';
    })();
    expect(refusal).toContain(message);
  });
});
