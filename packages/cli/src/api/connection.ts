/**
 * URL and credential of the installation: from options, then the environment, then the running local cloud.
 *
 * Must not: take a key from the command line, where every process of the machine could read it; or send one unencrypted
 * over a network.
 */
import { join, resolve } from 'node:path';
import { UsageError } from '../exit.ts';
import { ADDRESS_FILE, DATA_DIR } from '../project.ts';
import type { World } from '../world.ts';
import type { ApiConnection } from './client.ts';

interface ConnectionOptions {
  readonly url: string | undefined;
  readonly 'key-file': string | undefined;
  readonly local: string | undefined;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

interface LocalCloudAddress {
  readonly gateway: string;
  readonly apiKey: string;
  readonly dir: string;
}

/** @throws UsageError that names the missing value and how to give it */
export function connect(wanted: ConnectionOptions, world: World): ApiConnection {
  const url = wanted.url ?? (wanted.local === undefined ? nonEmpty(world.env.CAIRN_URL) : undefined);
  if (url === undefined) return connectLocally(wanted, world);
  return { url: checkedUrl(url), apiKey: keyFor(url, wanted, world) };
}

function connectLocally(wanted: ConnectionOptions, world: World): ApiConnection {
  const cloud = localCloud(wanted, world);
  if (typeof cloud === 'string') {
    throw new UsageError(
      `no address: neither --url nor CAIRN_URL is given, and no local cloud is running on ${cloud}`,
      'Start one with npx cairn dev (in the repository of Cairn: npm start; on another data directory, name it with --local DIR), or set CAIRN_URL and CAIRN_API_KEY.',
    );
  }
  return { url: checkedUrl(cloud.gateway), apiKey: givenKey(wanted, world) ?? cloud.apiKey };
}

function keyFor(url: string, wanted: ConnectionOptions, world: World): string {
  const key = givenKey(wanted, world);
  if (key !== undefined) return key;
  const cloud = localCloud(wanted, world);
  if (typeof cloud !== 'string' && checkedUrl(cloud.gateway) === checkedUrl(url)) return cloud.apiKey;
  throw new UsageError(
    `no API key for ${url}`,
    'Set CAIRN_API_KEY, or give a file with --key-file FILE. cairn clients create makes keys.',
  );
}

function givenKey(wanted: ConnectionOptions, world: World): string | undefined {
  const file = wanted['key-file'];
  if (file === undefined) return nonEmpty(world.env.CAIRN_API_KEY);
  let text: string;
  try {
    text = world.readFile(resolve(world.cwd, file)).trim();
  } catch (error) {
    throw new UsageError(`the key file cannot be read: ${(error as Error).message}`);
  }
  if (/^\S+$/.test(text)) return text;
  throw new UsageError(`${file} must contain one API key and nothing else`);
}

/** The cloud that uses the data directory, or the directory if no cloud runs. */
function localCloud({ local }: ConnectionOptions, world: World): LocalCloudAddress | string {
  const dir = local === undefined ? join(world.projectDir, DATA_DIR) : resolve(world.cwd, local);
  try {
    const address = JSON.parse(world.readFile(join(dir, ADDRESS_FILE))) as Partial<LocalCloudAddress>;
    const { gateway, apiKey } = address;
    return typeof gateway === 'string' && typeof apiKey === 'string' ? { gateway, apiKey, dir } : dir;
  } catch {
    return dir;
  }
}

function checkedUrl(text: string): string {
  if (!URL.canParse(text))
    throw new UsageError(`'${text}' is not an address`, 'An address is like https://runs.example.com');
  const url = new URL(text);
  const isLocal = LOOPBACK.has(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal))
    throw new UsageError(`${url.origin} would receive the key unencrypted`, 'Use an https address.');
  // Functions may be reached below a path: https://REGION-PROJECT.cloudfunctions.net/cairn-api
  const address = `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  const base = address.replace(/\/v1(?:\/.*)?$/, '');
  if (base !== address || url.search !== '' || url.hash !== '' || url.username !== '')
    throw new UsageError(`'${text}' must be an origin and path only`, `Use ${base}.`);
  return base;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text.trim();
}
