/**
 * Opens the ports for browsers and API clients: the site of `firebase.json`, and the console. Part of the composition
 * root `cloud.ts`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Gateway, type GatewayOptions, startGateway } from './gateway/gateway.ts';
import { rewritesToInstallation, unservedOfInstallation } from './gateway/installation.ts';
import { type HostingConfig, type Rewrite, readRewrites, readUnserved, sitesOf } from './gateway/rewrites.ts';
import { readSite, siteOf } from './gateway/site.ts';
import { commandsToTry, type Welcome, welcomePage } from './gateway/welcome.ts';
import type { FunctionsHost } from './host/host.ts';
import type { Setting } from './stand-ins.ts';

interface OpenOptions {
  /** 0: a free one. */
  readonly port: number;
  readonly host: FunctionsHost;
  readonly setting: Setting;
}

export interface GatewaysOptions extends OpenOptions {
  readonly welcome: () => Omit<Welcome, 'gateway'>;
  readonly collect: (() => void) | undefined;
}

/** The site and the rewrites of `firebase.json`, which include Cairn's console and API. */
export async function openSiteWithConsole(options: GatewaysOptions): Promise<Gateway> {
  const { firebaseJson, log } = options.setting;
  const rewrites = rewritesOf(firebaseJson, log);
  const gateway: Gateway = await open(options, {
    rewrites: () => rewrites,
    ...(existsSync(firebaseJson) && siteIn(firebaseJson)),
    ...clientOptions(options, () => gateway.url),
  });
  return gateway;
}

/** Cairn's console and the API of the installation, independent of `firebase.json`. */
export async function openConsole(options: GatewaysOptions): Promise<Gateway> {
  const { host } = options;
  const gateway: Gateway = await open(options, {
    rewrites: () => rewritesToInstallation(host.functions),
    unserved: (path) => unservedOfInstallation(host.functions, path),
    site: consoleSite(),
    ...clientOptions(options, () => gateway.url),
  });
  return gateway;
}

/** The project's own site, with its rewrites. Undefined: `firebase.json` has none. */
export async function openOwnSite(options: OpenOptions): Promise<Gateway | undefined> {
  const { firebaseJson } = options.setting;
  if (!existsSync(firebaseJson) || sitesOf(firebaseJson)[0]?.public === undefined) return undefined;
  const rewrites = readRewrites(firebaseJson);
  return open(options, { rewrites: () => rewrites, ...siteIn(firebaseJson) });
}

async function open(
  { port, host, setting }: OpenOptions,
  served: Omit<GatewayOptions, 'port' | 'now' | 'serve'>,
): Promise<Gateway> {
  const gateway = await startGateway({ port, now: setting.clock.now, serve: host.serve, ...served });
  setting.stack.defer(() => gateway.stop(0));
  return gateway;
}

function siteIn(firebaseJson: string) {
  return { site: readSite(firebaseJson), unserved: readUnserved(firebaseJson) };
}

function clientOptions({ welcome, collect, host }: GatewaysOptions, url: () => string) {
  const all = () => ({ ...welcome(), gateway: url() });
  return {
    collect,
    passedOn: () => host.dispatches,
    consoleJson: () =>
      JSON.stringify({ local: true, apiKey: all().apiKey, firstSteps: commandsToTry(all()) }),
    welcome: () => welcomePage(all()),
  };
}

function consoleSite() {
  const hosting = fileURLToPath(import.meta.resolve('@cairn/console/hosting.json'));
  const config = JSON.parse(readFileSync(hosting, 'utf8')) as HostingConfig;
  return siteOf(join(dirname(hosting), 'dist'), config);
}

function rewritesOf(firebaseJson: string, log: (line: string) => void): Rewrite[] {
  if (existsSync(firebaseJson)) return readRewrites(firebaseJson);
  log(`${firebaseJson} does not exist: the gateway serves no function`);
  return [];
}
