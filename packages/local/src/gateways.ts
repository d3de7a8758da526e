/**
 * Opens the ports for browsers and API clients: the site of `firebase.json`, and the console. Part of the composition
 * root `cloud.ts`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Gateway, startGateway } from './gateway/gateway.ts';
import { rewritesToInstallation, unservedOfInstallation } from './gateway/installation.ts';
import { type HostingConfig, type Rewrite, readRewrites, readUnserved, sitesOf } from './gateway/rewrites.ts';
import { readSite, siteOf } from './gateway/site.ts';
import { commandsToTry, type Welcome, welcomePage } from './gateway/welcome.ts';
import type { FunctionsHost } from './host/host.ts';
import type { Setting } from './stand-ins.ts';

export interface GatewaysOptions {
  /** 0: a free one. */
  readonly port: number;
  readonly host: FunctionsHost;
  readonly setting: Setting;
  readonly welcome: () => Omit<Welcome, 'gateway'>;
  readonly collect: (() => void) | undefined;
}

/** The site and the rewrites of `firebase.json`, which include Cairn's console and API. */
export async function openSiteWithConsole(options: GatewaysOptions): Promise<Gateway> {
  const { port, host, setting, collect } = options;
  const { firebaseJson } = setting;
  const rewrites = rewritesOf(firebaseJson, setting.log);
  const gateway: Gateway = await startGateway({
    port,
    now: setting.clock.now,
    rewrites: () => rewrites,
    ...(existsSync(firebaseJson) && {
      site: readSite(firebaseJson),
      unserved: readUnserved(firebaseJson),
    }),
    serve: host.serve,
    collect,
    passedOn: () => host.dispatches,
    ...clientOptions(options, () => gateway.url),
  });
  setting.stack.defer(() => gateway.stop(0));
  return gateway;
}

/** Cairn's console and the API of the installation, independent of `firebase.json`. */
export async function openConsole(options: GatewaysOptions): Promise<Gateway> {
  const { port, host, setting, collect } = options;
  const gateway: Gateway = await startGateway({
    port,
    now: setting.clock.now,
    rewrites: () => rewritesToInstallation(host.functions),
    unserved: (path) => unservedOfInstallation(host.functions, path),
    site: consoleSite(),
    serve: host.serve,
    collect,
    passedOn: () => host.dispatches,
    ...clientOptions(options, () => gateway.url),
  });
  setting.stack.defer(() => gateway.stop(0));
  return gateway;
}

/** The project's own site, with its rewrites. Undefined: `firebase.json` has none. */
export async function openOwnSite(
  options: Omit<GatewaysOptions, 'welcome' | 'collect'>,
): Promise<Gateway | undefined> {
  const { port, host, setting } = options;
  const { firebaseJson } = setting;
  if (!existsSync(firebaseJson) || sitesOf(firebaseJson)[0]?.public === undefined) return undefined;
  const rewrites = readRewrites(firebaseJson);
  const gateway = await startGateway({
    port,
    now: setting.clock.now,
    rewrites: () => rewrites,
    site: readSite(firebaseJson),
    unserved: readUnserved(firebaseJson),
    serve: host.serve,
  });
  setting.stack.defer(() => gateway.stop(0));
  return gateway;
}

function clientOptions({ welcome }: GatewaysOptions, url: () => string) {
  const all = () => ({ ...welcome(), gateway: url() });
  return {
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
