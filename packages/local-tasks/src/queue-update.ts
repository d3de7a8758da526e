/** UpdateQueue: replaces the fields of a queue that a mask names. Owns the set of fields. Pure. */
import { invalid } from './errors.ts';
import type { QueueConfig } from './model.ts';
import { settingsFrom, type WireQueue } from './validate.ts';
import { toWireQueue } from './wire.ts';

type Settings = Omit<WireQueue, 'name'>;

/** Members of each setting, by their JSON names in the protocol. */
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
  /** Settings of the caller's API version. Without paths all of these are replaced; other settings stay unchanged. */
  readonly settable: readonly QueueSetting[];
}

/** Rules between fields apply to the result. @throws GrpcRefusal INVALID_ARGUMENT */
export function updatedQueue(
  before: QueueConfig,
  { queue: wire, paths, settable }: QueueUpdate,
): QueueConfig {
  const settings: Record<string, object | null | undefined> = { ...(toWireQueue(before) as Settings) };
  for (const { name, member } of requireSettings({ paths, settable })) {
    const given = wire[name];
    settings[name] = member === undefined ? given : { ...settings[name], [member]: memberOf(given, member) };
  }
  return { ...before, ...settingsFrom(settings as Settings) };
}

/** The settings that a mask names; without a mask all of them. @throws GrpcRefusal INVALID_ARGUMENT */
export function requireSettings({
  paths,
  settable,
}: Pick<QueueUpdate, 'paths' | 'settable'>): readonly NamedSetting[] {
  const named = (paths?.length ? paths : settable).filter((path) => path !== 'name');
  return named.map((path) => {
    const [first, member, ...deeper] = path.split('.').map(camelCase);
    const name = settable.find((one) => one === first);
    const isKnown = name !== undefined && (member === undefined || SETTINGS[name].includes(member));
    if (!isKnown || deeper.length > 0) {
      throw invalid(`UpdateQueueRequest.update_mask: field '${path}' cannot be updated.`);
    }
    return { name, member };
  });
}

interface NamedSetting {
  readonly name: QueueSetting;
  /** Undefined: the whole setting. */
  readonly member: string | undefined;
}

const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const memberOf = (setting: object | null | undefined, member: string) =>
  (setting as Record<string, unknown> | null | undefined)?.[member];
