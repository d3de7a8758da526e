/** The document that names a run outside of itself. Native members, so that it can be read in the console. */
import type { RunFinding } from '../../ports/diagnosis/findings.ts';
import { documentCodec, integer, optional, text, time, word } from './kinds.ts';

export const findingCodec = documentCodec<RunFinding>({
  runId: text,
  tenantId: text,
  type: text,
  head: integer,
  stepId: optional(text),
  reason: word(),
  message: text,
  since: time,
  lastAt: time,
});
