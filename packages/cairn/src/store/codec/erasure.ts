/** Records of erasures. */
import type { DeletedCounts, Erasure } from '../../core/retention/erasure.ts';
import { documentCodec, integer, map, optional, text, time, word, words } from './kinds.ts';

export const erasureCodec = documentCodec<Erasure>({
  id: text,
  scope: word<Erasure['scope']>(),
  tenantHash: text,
  tenantId: optional(text),
  roots: words<string>(),
  state: word<Erasure['state']>(),
  keptBy: optional(map<NonNullable<Erasure['keptBy']>>({ why: word(), runId: text })),
  gone: map<DeletedCounts>({
    runs: integer,
    documents: integer,
    effects: integer,
    records: integer,
    waits: integer,
    schedules: integer,
    published: integer,
  }),
  requestedAt: time,
  requestedBy: optional(text),
  finishedAt: optional(time),
});
