/** The document of the heartbeats. Native members, so that it can be read in the console. */
import type { Heartbeat, Heartbeats, SampleFound } from '../../ports/diagnosis/heartbeats.ts';
import { documentCodec, integer, kind, map, optional, text, time, word } from './kinds.ts';

const heartbeat = map<Heartbeat>({ at: time, tookMs: integer, outcome: word(), error: optional(text) });

const counts = kind<SampleFound['problems']>(
  (problems) => ({ ...problems }),
  (raw) => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) throw new Error('expected a map');
    return Object.fromEntries(Object.entries(raw).map(([code, count]) => [code, integer.decode(count)]));
  },
);

const times = kind<NonNullable<Heartbeats['installations']>>(
  (installations) =>
    Object.fromEntries(Object.entries(installations).map(([name, at]) => [name, time.encode(at)])),
  (raw) => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) throw new Error('expected a map');
    return Object.fromEntries(Object.entries(raw).map(([name, at]) => [name, time.decode(at)]));
  },
);

export const heartbeatsCodec = documentCodec<Heartbeats>({
  recoverRuns: optional(heartbeat),
  fireSchedules: optional(heartbeat),
  checkRuns: optional(heartbeat),
  deleteExpired: optional(heartbeat),
  found: optional(map<SampleFound>({ at: time, checked: integer, problems: counts })),
  installations: optional(times),
});
