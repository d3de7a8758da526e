/** The document of the runtime configuration. Native members, so that it can be read and set by hand in an emergency. */
import type { RestoreMark } from '../../core/recovery/restored.ts';
import type { PauseMark, RuntimeConfig } from '../../ports/runtime-config.ts';
import { documentCodec, flag, kind, type Members, map, optional, text, time } from './kinds.ts';

const mark = map<PauseMark>({ since: time, by: text, reason: optional(text) });

const marks = kind<RuntimeConfig['paused']>(
  (paused) => Object.fromEntries([...paused].map(([type, one]) => [type, mark.encode(one)])),
  (raw) => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) throw new Error('expected a map');
    return new Map(Object.entries(raw).map(([type, one]) => [type, mark.decode(one)]));
  },
);

const codec = documentCodec<RuntimeConfig>({
  killSwitch: flag,
  paused: marks,
  restore: optional(map<RestoreMark>({ at: time, by: text, held: flag })),
  home: optional(text),
});

/** A document made by hand may have only one of the two members. */
const DEFAULTS: Members = { killSwitch: false, paused: {} };

export const runtimeConfigCodec: typeof codec = {
  ...codec,
  decode: (document, what) => codec.decode({ ...DEFAULTS, ...document }, what),
};
