/** UpdateQueue: a queue with the fields of a mask replaced. Owns which fields there are. Pure. */
import { invalid } from './errors.ts';
import type { QueueConfig } from './model.ts';
import { settingsFrom, type WireQueue } from './validate.ts';
import { toWireQueue } from './wire.ts';

type Settings = Omit<WireQueue, 'name'>;

/** Members of each setting, by the names of the protocol in JSON. */
const SETTINGS: Readonly<Record<keyof Settings, readonly string[]>> = {
  rateLimits: ['maxDispatchesPerSecond', 'maxBurstSize', 'maxConcurrentDispatches'],
  retryConfig: ['maxAttempts', 'maxRetryDuration', 'minBackoff', 'maxBackoff', 'maxDoublings'],
  stackdriverLoggingConfig: ['samplingRatio'],
  appEngineRoutingOverride: ['service', 'version', 'instance'],
  httpTarget: ['uriOverride', 'httpMethod', 'headerOverrides', 'oauthToken', 'oidcToken'],
  taskTtl: [],
  tombstoneTtl: [],
};

export type QueueSetting = keyof Settings;

interface QueueUpdate {
  readonly queue: WireQueue;
  readonly paths: readonly string[] | undefined;
  /** Those that the caller's version of the API has: without paths they are all replaced, and the others stay. */
  readonly settable: readonly QueueSetting[];
}

/** Rules between fields apply to the result. @throws GrpcRefusal INVALID_ARGUMENT */
export function updatedQueue(
  before: QueueConfig,
  { queue: wire, paths, settable }: QueueUpdate,
): QueueConfig {
  const settings: Record<string, object | null | undefined> = { ...(toWireQueue(before) as Settings) };
  for (const path of paths?.length ? paths : settable) {
    if (path === 'name') continue;
    const [name = '', member, ...deeper] = path.split('.').map(camelCase);
    const setting = settable.find((one) => one === name);
    const members = setting && SETTINGS[setting];
    const isKnown = members !== undefined && (member === undefined || members.includes(member));
    if (!isKnown || deeper.length > 0) {
      throw invalid(`UpdateQueueRequest.update_mask: field '${path}' cannot be updated.`);
    }
    const given = wire[name as keyof Settings];
    settings[name] = member === undefined ? given : { ...settings[name], [member]: memberOf(given, member) };
  }
  return { ...before, ...settingsFrom(settings as Settings) };
}

const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const memberOf = (setting: object | null | undefined, member: string) =>
  (setting as Record<string, unknown> | null | undefined)?.[member];
